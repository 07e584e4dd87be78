package dev.holdfast.lease;

import dev.holdfast.fleet.Hosts;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Moved;
import dev.holdfast.lease.Claims.Answer;
import dev.holdfast.lease.ContestedClaims.Granted;
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
 * Claims in rounds until the worker has all it asked for. Most jobs are granted by the first
 * statement; jobs that need resources follow in a transaction of their own. When some of those were
 * parked instead, there may be other due jobs behind them, and a grant or a park may wake others,
 * so another round is worthwhile.
 */
final class ClaimRounds {

  private static final Logger log = LoggerFactory.getLogger(ClaimRounds.class);

  // Limited, because a worker that parks a hundred thousand jobs here starts none meanwhile.
  private static final int MOST_ROUNDS = 10;

  // Rounds in which other transactions had candidates locked. Those are over soon, and there may be
  // free jobs behind the ones they took.
  private static final int MOST_ROUNDS_MISSED = 2;
  private static final String CONTESTED = "contested";

  private final Db db;
  private final Claims claims;
  private final ContestedClaims contested;
  private final RepeatableClaims repeatable;
  private final Slots slots;
  private final Consequences consequences;

  ClaimRounds(
      Db db, LeaseRow leaseRow, Hosts hosts, LanePositions positions, Consequences consequences) {
    this.db = db;
    this.claims = new Claims(db, leaseRow, hosts, positions);
    this.contested = new ContestedClaims(db, leaseRow);
    this.slots = new Slots(db);
    this.repeatable = new RepeatableClaims(db, leaseRow);
    this.consequences = consequences;
  }

  /** Claims with an id, for {@link SharedClaims}. */
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
    } while ((round.mayLeadToMore() || (round.hasMissed() && missed <= MOST_ROUNDS_MISSED))
        && rounds < MOST_ROUNDS
        && leases.size() < request.limit()
        // All leases of one claim id must be granted in one transaction.
        && (request.claimId().isEmpty() || leases.isEmpty()));
    boolean all = leases.size() >= request.limit();
    return new Claimed(leases, all ? round.nextDueIn() : round.again());
  }

  private Round round(ClaimRequest request, boolean somethingGranted) {
    if (request.claimId().isPresent()) {
      return repeatable.claim(
          request,
          handle -> inOne(handle, request),
          (handle, leases) -> tell(handle, request, leases));
    }
    try {
      Answer answer =
          consequences.isHooked()
              ? db.inTransaction(handle -> claimPlain(handle, request))
              : db.withHandle(handle -> claims.claim(handle, request));
      return Round.of(answer, claimContestedToo(request, answer));
    } catch (RuntimeException e) {
      if (!somethingGranted) {
        throw e;
      }
      return failed(e);
    }
  }

  /** One round in the caller's transaction. The caller calls {@link #tell} afterwards. */
  Round inOne(Handle handle, ClaimRequest request) {
    Answer answer = claims.claim(handle, request);
    Optional<Granted> granted =
        claimContested(
            answer,
            () -> {
              handle.savepoint(CONTESTED);
              return contested.claim(handle, request, answer.contested());
            });
    if (granted.isEmpty()) {
      handle.rollbackToSavepoint(CONTESTED);
    }
    waitAsUsual(handle);
    return Round.of(answer, granted);
  }

  // Empty when another transaction, which may be frozen, has the lock of a resource: the leases
  // that were already granted to jobs that need nothing do not wait for it.
  private static Optional<Granted> claimContested(Answer answer, Supplier<Granted> claim) {
    if (answer.contested().isEmpty()) {
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

  private Granted grantContested(Handle handle, ClaimRequest request, Answer answer) {
    Granted granted = contested.claim(handle, request, answer.contested());
    waitAsUsual(handle);
    tell(handle, request, granted.leases());
    return granted;
  }

  // Resources are waited for only for a moment. A hook may wait for its own tables, and whoever
  // claims under the same id for that hook.
  private void waitAsUsual(Handle handle) {
    if (consequences.isHooked()) {
      handle.execute("SET LOCAL lock_timeout TO DEFAULT");
    }
  }

  /**
   * Updates slots and calls the application's hook for the granted jobs, in the transaction that
   * grants them and once it is settled and remembered which worker has them. Last, as everywhere: a
   * hook takes locks that we know nothing about.
   */
  void tell(Handle handle, ClaimRequest request, List<Lease> leases) {
    List<Moved> started =
        leases.stream().map(lease -> lease.moved(JobState.QUEUED, request.claimedAs())).toList();
    slots.follow(handle, started);
    consequences.moved(handle, started);
  }

  // Leases that were granted already must reach the worker, or their jobs would wait until the
  // leases expire. And they must reach it soon, because nothing renews them meanwhile.
  private Optional<Granted> claimContestedToo(ClaimRequest request, Answer answer) {
    try {
      return claimContested(
          answer, () -> db.inTransaction(handle -> grantContested(handle, request, answer)));
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
