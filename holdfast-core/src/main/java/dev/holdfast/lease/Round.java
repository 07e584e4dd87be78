package dev.holdfast.lease;

import dev.holdfast.lease.Claims.Answer;
import dev.holdfast.lease.GuardedClaims.Granted;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What one round of a claim brought.
 *
 * @param leases all of them
 * @param candidatesApart how many due jobs needed more than a lease
 * @param apart how it went with those; its leases are among all
 * @param nextDueIn when there will be more, as far as this round could see
 */
record Round(List<Lease> leases, int candidatesApart, Granted apart, Optional<Duration> nextDueIn) {

  // Whoever was quicker is gone by then, and there may be others behind those that it took.
  private static final Duration MISSED = Duration.ofMillis(25);

  // Whoever has a resource's lock and says nothing loses it within seconds.
  private static final Duration KEPT_AWAY = Duration.ofMillis(300);

  /** Nothing but leases, with no view of what else there is. */
  static Round only(List<Lease> leases) {
    return new Round(leases, 0, Granted.NOTHING, Optional.empty());
  }

  /** Without what was to be granted apart when somebody kept us from it. */
  static Round of(Answer answer, Optional<Granted> apart) {
    return apart
        .map(granted -> of(answer, granted))
        .orElseGet(() -> new Round(answer.leases, 0, Granted.NOTHING, Optional.of(KEPT_AWAY)));
  }

  private static Round of(Answer answer, Granted apart) {
    List<Lease> all = new ArrayList<>(answer.leases);
    all.addAll(apart.leases());
    return new Round(all, answer.apart().size(), apart, answer.nextDueIn());
  }

  /** Whether there were candidates that did not get a lease and are out of the way now. */
  boolean isUnsettled() {
    int granted = apart.leases().size();
    boolean moved = apart.aside() + granted > 0;
    return moved && granted < candidatesApart;
  }

  /**
   * Whether there were some that somebody else was at: without another look there would be none
   * before the next poll, whatever waits behind them.
   */
  boolean hasMissed() {
    return apart.missed() > 0;
  }

  /** How many jobs can be claimed now and could not before. */
  int woken() {
    return apart.woken();
  }

  /** When to look again, after a round that brought less than was asked for. */
  Optional<Duration> again() {
    if (isUnsettled()) {
      return Optional.of(Duration.ZERO);
    }
    return hasMissed() ? Optional.of(MISSED) : nextDueIn;
  }
}
