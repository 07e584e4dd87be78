package dev.holdfast.lease;

import dev.holdfast.fleet.Hosts;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Moved;
import dev.holdfast.lease.Claims.Answer;
import dev.holdfast.lease.GuardedClaims.Granted;
import dev.holdfast.slot.Slots;
import dev.holdfast.tenant.Db;
import dev.holdfast.tenant.SqlErrors;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.jdbi.v3.core.Handle;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Claims until the worker has all it asked for. Most jobs come with the first statement; those that
 * need resources follow in a transaction of their own. Where many of these had to be parked instead
 * there is more to be found behind them, so another round is worth while.
 */
final class ClaimRounds {

  private static final Logger log = LoggerFactory.getLogger(ClaimRounds.class);

  // A worker that is kept here while a hundred thousand jobs are parked starts nothing meanwhile.
  private static final int MOST_ROUNDS = 10;

  // Whoever was quicker is gone by now, and there may be others behind those that it took.
  private static final int MOST_ROUNDS_MISSED = 2;
  private static final String APART = "apart";

  private final Db db;
  private final Claims claims;
  private final GuardedClaims guarded;
  private final RepeatableClaims repeatable;
  private final Slots slots;
  private final Consequences consequences;

  ClaimRounds(
      Db db, LeaseRow leaseRow, Hosts hosts, LanePositions positions, Consequences consequences) {
    this.db = db;
    this.claims = new Claims(db, leaseRow, hosts, positions);
    this.guarded = new GuardedClaims(db, leaseRow);
    this.slots = new Slots(db);
    this.repeatable = new RepeatableClaims(db, leaseRow);
    this.consequences = consequences;
  }

  /** Claims with an id, for those who claim for many. */
  RepeatableClaims repeatable() {
    return repeatable;
  }

  Claimed claim(ClaimRequest request) {
    List<Lease> leases = new ArrayList<>();
    Round round;
    int rounds = 0;
    int missed = 0;
    do {
      round = round(request.withLimit(request.limit() - leases.size()), !leases.isEmpty());
      leases.addAll(round.leases());
      if (round.woken() > 0) {
        consequences.woken();
      }
      rounds++;
      missed += round.hasMissed() ? 1 : 0;
    } while ((round.isUnsettled() || (round.hasMissed() && missed <= MOST_ROUNDS_MISSED))
        && rounds < MOST_ROUNDS
        && leases.size() < request.limit()
        // What a claim id answers must have been granted in one transaction.
        && (request.claimId().isEmpty() || leases.isEmpty()));
    boolean all = leases.size() >= request.limit();
    return new Claimed(leases, all ? round.nextDueIn() : round.again());
  }

  private Round round(ClaimRequest request, boolean somethingGranted) {
    if (request.claimId().isPresent()) {
      return repeatable.claim(
          request,
          handle -> {
            Round round = inOne(handle, request);
            tell(handle, request, round.leases());
            return round;
          });
    }
    try {
      Answer answer =
          consequences.isHooked()
              ? db.inTransaction(handle -> claimPlain(handle, request))
              : db.withHandle(handle -> claims.claim(handle, request));
      return Round.of(answer, claimApartToo(request, answer));
    } catch (RuntimeException e) {
      if (!somethingGranted) {
        throw e;
      }
      return failed(e);
    }
  }

  /** All of a round in the caller's transaction, who is to {@link #tell} of it. */
  Round inOne(Handle handle, ClaimRequest request) {
    Answer answer = claims.claim(handle, request);
    Optional<Granted> granted =
        claimApart(
            answer,
            () -> {
              handle.savepoint(APART);
              return guarded.claim(handle, request, answer.apart());
            });
    if (granted.isEmpty()) {
      handle.rollbackToSavepoint(APART);
    }
    return Round.of(answer, granted);
  }

  // Empty when somebody, who may be frozen, has the lock of a resource: what was granted already,
  // to jobs that need nothing, does not wait for it.
  private static Optional<Granted> claimApart(Answer answer, Supplier<Granted> claim) {
    if (answer.apart().isEmpty()) {
      return Optional.of(Granted.NOTHING);
    }
    try {
      return Optional.of(claim.get());
    } catch (RuntimeException e) {
      if (!SqlErrors.isLockTimeout(e)) {
        throw e;
      }
      log.debug("Somebody keeps a resource's lock; trying again with the next claim", e);
      return Optional.empty();
    }
  }

  private Answer claimPlain(Handle handle, ClaimRequest request) {
    Answer answer = claims.claim(handle, request);
    tell(handle, request, answer.leases);
    return answer;
  }

  private Granted claimGuarded(Handle handle, ClaimRequest request, Answer answer) {
    Granted granted = guarded.claim(handle, request, answer.apart());
    tell(handle, request, granted.leases());
    return granted;
  }

  /**
   * Slots, and what the application has of its own, follow the jobs; in the transaction that grants
   * them and once it is settled who has them. Last, as everywhere: a hook locks what we know
   * nothing of.
   */
  void tell(Handle handle, ClaimRequest request, List<Lease> leases) {
    List<Moved> started =
        leases.stream().map(lease -> lease.moved(JobState.QUEUED, request.claimedAs())).toList();
    slots.follow(handle, started);
    if (consequences.isHooked()) {
      handle.execute("SET LOCAL lock_timeout TO DEFAULT"); // the hook may wait for its own tables
    }
    consequences.moved(handle, started);
  }

  // What was granted already must reach the worker, or those jobs would wait out their leases. It
  // must so soon, too: nobody renews them meanwhile.
  private Optional<Granted> claimApartToo(ClaimRequest request, Answer answer) {
    try {
      return claimApart(
          answer, () -> db.inTransaction(handle -> claimGuarded(handle, request, answer)));
    } catch (RuntimeException e) {
      if (answer.leases.isEmpty()) {
        throw e;
      }
      log.warn("Could not claim jobs that need resources; trying again with the next claim", e);
      return Optional.of(Granted.NOTHING);
    }
  }

  private static Round failed(RuntimeException e) {
    log.warn("Could not claim as many jobs as asked for; trying again with the next claim", e);
    return Round.only(List.of());
  }
}
