package dev.holdfast.lease;

import dev.holdfast.hold.Blocks;
import dev.holdfast.hold.Held;
import dev.holdfast.hold.Holds;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Policy.OnFailure;
import dev.holdfast.job.Subject;
import dev.holdfast.subject.Subjects;
import dev.holdfast.subject.Subjects.Move;
import dev.holdfast.tenant.Db;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/**
 * What follows from the end of an attempt that held something: its resources pass on, now or when
 * its work can be thought stopped; a job that stands still blocks its target; its subject moves;
 * and those who waited are woken. In the transaction that records the end.
 */
final class Aftermath {

  private final Holds holds;
  private final Blocks blocks;
  private final Subjects subjects;

  Aftermath(Db db) {
    this.holds = new Holds(db);
    this.blocks = new Blocks(db);
    this.subjects = new Subjects(db);
  }

  /** Before any job's row is touched. */
  void lock(Handle handle, List<Ended> guarded) {
    holds.lock(handle, resources(guarded));
  }

  /** Answers how many waiting jobs were woken. */
  int settle(Handle handle, List<Ended> guarded, Map<LeaseKey, JobState> recorded) {
    // A worker that lost its lease says at least that its work is over: nobody need wait for that
    // any longer. Its fence lets it free only what it held itself.
    holds.release(handle, guarded.stream().filter(Ended::stopped).map(Aftermath::held).toList());
    holds.linger(
        handle,
        guarded.stream()
            .filter(end -> !end.stopped() && recorded.containsKey(end.key()))
            .map(Aftermath::held)
            .toList());
    for (Ended end : guarded) {
      block(handle, end, recorded.get(end.key()));
    }
    int woken = holds.waiting().wake(handle, resources(guarded));
    subjects.move(
        handle,
        guarded.stream()
            .flatMap(end -> move(end.lease(), recorded.get(end.key())).stream())
            .toList());
    return woken;
  }

  private static Set<String> resources(List<Ended> guarded) {
    Set<String> names = new TreeSet<>();
    guarded.forEach(end -> names.addAll(end.lease().needs().resources()));
    return names;
  }

  private static Held held(Ended end) {
    Lease lease = end.lease();
    return new Held(
        lease.key().jobId(), lease.key().fence(), lease.needs().resources(), lease.expiresAt());
  }

  private void block(Handle handle, Ended end, @Nullable JobState state) {
    boolean keepsTarget = end.lease().policy().onFailure() == OnFailure.HOLD;
    if (state == JobState.PAUSED || (state == JobState.FAILED && keepsTarget)) {
      UUID job = end.key().jobId();
      String worker = end.lease().worker();
      end.lease()
          .needs()
          .targetResource()
          .ifPresent(target -> blocks.put(handle, target, job, state.stored(), worker));
    }
  }

  private static Optional<Move> move(Lease lease, @Nullable JobState state) {
    Optional<Subject> subject = lease.needs().subject();
    UUID job = lease.key().jobId();
    return switch (state) {
      case SUCCEEDED -> Move.of(subject, Subject.ACTIVE, job);
      case FAILED, CANCELLED -> Move.of(subject, Subject.FAILED, job);
      // While a retry waits, or somebody is to decide, the work is not over.
      case null, default -> Optional.empty();
    };
  }
}
