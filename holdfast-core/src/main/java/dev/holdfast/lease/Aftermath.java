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
 * Writes what follows from the end of an attempt that held resources or has a subject: its
 * resources pass on, at once or when its work must have stopped; a job that pauses, or fails with
 * {@code on_failure: hold}, blocks its target; its subject moves; and parked jobs are woken. All in
 * the transaction that records the end.
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

  /** Locks the resources of these attempts; called before any job's row is locked. */
  void lock(Handle handle, List<Ended> withNeeds) {
    holds.lock(handle, resources(withNeeds));
  }

  /** Writes the consequences; returns how many parked jobs were woken. */
  int settle(Handle handle, List<Ended> withNeeds, Map<LeaseKey, JobState> recorded) {
    // A worker that lost its lease at least reports that its work is over, so no job needs to
    // wait for its holds any longer. The fence lets it release only its own holds.
    holds.release(
        handle, withNeeds.stream().filter(Ended::workIsOver).map(Aftermath::held).toList());
    holds.linger(
        handle,
        withNeeds.stream()
            .filter(end -> !end.workIsOver() && recorded.containsKey(end.key()))
            .map(Aftermath::held)
            .toList());
    for (Ended end : withNeeds) {
      block(handle, end, recorded.get(end.key()));
    }
    int woken = holds.waiting().wake(handle, resources(withNeeds));
    subjects.move(
        handle,
        withNeeds.stream().flatMap(end -> move(end, recorded.get(end.key())).stream()).toList());
    return woken;
  }

  private static Set<String> resources(List<Ended> withNeeds) {
    Set<String> names = new TreeSet<>();
    withNeeds.forEach(end -> names.addAll(end.lease().needs().resources()));
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

  private static Optional<Move> move(Ended end, @Nullable JobState state) {
    Optional<Subject> subject = end.lease().needs().subject();
    UUID job = end.key().jobId();
    return switch (state) {
      case SUCCEEDED -> Move.of(subject, Subject.ACTIVE, job);
      // A worker that reports that its work failed has worked, whether it reported a start or not.
      case FAILED ->
          end.workIsOver() ? Move.of(subject, Subject.FAILED, job) : Move.abandoned(subject, job);
      case CANCELLED -> Move.abandoned(subject, job);
      // While a retry waits, or an operator is to decide, the subject's work is not over.
      case null, default -> Optional.empty();
    };
  }
}
