package dev.holdfast.lease;

import dev.holdfast.job.Attempt;
import dev.holdfast.job.JobIds;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Moved;
import dev.holdfast.job.Needs;
import dev.holdfast.job.Payload;
import dev.holdfast.job.Policy;
import dev.holdfast.job.Progress;
import dev.holdfast.job.SlotKey;
import dev.holdfast.subject.Subjects.Move;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.Optional;

/**
 * A worker's time-limited right to run one attempt of a job, with all the worker needs to run it
 * and all that {@link dev.holdfast.job.Lifecycle} needs to decide what comes after.
 *
 * @param slot the slot of a schedule that the job is for, if any
 */
public record Lease(
    LeaseKey key,
    String worker,
    String kind,
    String queue,
    Payload args,
    Attempt attempt,
    Policy policy,
    Needs needs,
    Progress progress,
    Instant runAt,
    Duration length,
    Instant expiresAt,
    Optional<SlotKey> slot) {

  /** The order in which rows of jobs are locked. */
  static final Comparator<Lease> BY_JOB =
      Comparator.comparing((Lease lease) -> lease.key.jobId(), JobIds.ORDER);

  /** The move of the job by its claim, or by its worker's report that it starts. */
  Moved moved(JobState from, JobState to) {
    return new Moved(key.jobId(), kind, queue, needs, from, to, key.fence());
  }

  /** The move of the job's subject, if it has one that moves, when the attempt starts. */
  Optional<Move> started() {
    return Move.started(needs.subject(), key.jobId());
  }

  /** The same lease, claimed on behalf of many workers, for the worker that gets it. */
  Lease dealtTo(String name, long fence) {
    return new Lease(
        new LeaseKey(key.tenant(), key.jobId(), fence),
        name,
        kind,
        queue,
        args,
        attempt,
        policy,
        needs,
        progress,
        runAt,
        length,
        expiresAt,
        slot);
  }

  Lease withLength(Duration length) {
    return new Lease(
        key, worker, kind, queue, args, attempt, policy, needs, progress, runAt, length, expiresAt,
        slot);
  }
}
