package dev.holdfast.lease;

import dev.holdfast.lease.Claims.Answer;
import dev.holdfast.lease.ContestedClaims.Granted;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The result of one round of a claim.
 *
 * @param leases all leases that were granted
 * @param candidates how many due jobs were contested
 * @param contested the result for those jobs; its leases are among {@code leases}, too
 * @param nextDueIn how long until there will be more, as far as this round could see
 */
record Round(List<Lease> leases, int candidates, Granted contested, Optional<Duration> nextDueIn) {

  // A transaction that had a candidate locked is over by then, and there may be free jobs behind
  // the ones it took.
  private static final Duration MISSED = Duration.ofMillis(25);

  // A transaction that keeps a resource's lock and is silent is ended within seconds.
  private static final Duration KEPT_AWAY = Duration.ofMillis(300);

  /** Only leases, with no view of what else there is. */
  static Round only(List<Lease> leases) {
    return new Round(leases, 0, Granted.NOTHING, Optional.empty());
  }

  /** Without contested jobs, when another transaction kept a resource's lock. */
  static Round of(Answer answer, Optional<Granted> contested) {
    return contested
        .map(granted -> of(answer, granted))
        .orElseGet(() -> new Round(answer.leases, 0, Granted.NOTHING, Optional.of(KEPT_AWAY)));
  }

  private static Round of(Answer answer, Granted contested) {
    List<Lease> all = new ArrayList<>(answer.leases);
    all.addAll(contested.leases());
    return new Round(all, answer.contested().jobIds().size(), contested, answer.nextDueIn());
  }

  /** Whether another round may find more: this worker may run the jobs that were woken. */
  boolean mayLeadToMore() {
    return isUnsettled() || contested.woken() > 0;
  }

  // Some candidates are out of the way now, and not all of them got a lease.
  private boolean isUnsettled() {
    int granted = contested.leases().size();
    boolean moved = contested.aside() + granted > 0;
    return moved && granted < candidates;
  }

  /**
   * Whether other transactions had some candidates locked. Without another round, jobs that wait
   * behind those would not be found before the next poll.
   */
  boolean hasMissed() {
    return contested.missed() > 0;
  }

  /** How many jobs can be claimed now and could not before. */
  int woken() {
    return contested.woken();
  }

  /** When to look again, after a round that brought less than was asked for. */
  Optional<Duration> again() {
    if (isUnsettled()) {
      return Optional.of(Duration.ZERO);
    }
    return hasMissed() ? Optional.of(MISSED) : nextDueIn;
  }
}
