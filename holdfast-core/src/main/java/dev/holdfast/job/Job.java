package dev.holdfast.job;

import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * A job as stored, live or finished. SQL NULL became Optional in the row mapper and goes no
 * further.
 *
 * @param granted attempts that operators gave on top of the policy's
 * @param policy as it is now: what the job says, over what its queue says, over the defaults
 * @param doneReason why it counts as done: its worker said so, it has the results it is for, or
 *     somebody resolved it
 */
public record Job(
    UUID id,
    String kind,
    String queue,
    int priority,
    JobState state,
    Payload args,
    List<String> tags,
    Needs needs,
    Optional<String> waitingOn,
    Instant runAt,
    int attempt,
    int granted,
    Policy policy,
    long fence,
    Optional<LeaseInfo> lease,
    Progress progress,
    Optional<Instant> progressAt,
    Usage usage,
    Optional<Payload> result,
    Optional<String> doneReason,
    Optional<String> errorCode,
    Optional<String> errorMessage,
    Instant createdAt,
    Optional<Instant> startedAt,
    Optional<Instant> finishedAt) {

  /** Who has the right to run the job, and until when. */
  public record LeaseInfo(String owner, Instant expiresAt) {}

  /** Tokens used by all its attempts so far. */
  public record Usage(long inputTokens, long outputTokens) {}

  /** How many attempts it may come to. */
  public int maxAttempts() {
    return policy.maxAttempts() + granted;
  }

  public Job {
    // The schema has the same CHECKs. Two places, because a bad row should fail where it is read.
    if (state.isFinished() != finishedAt.isPresent()) {
      throw new IllegalArgumentException("job " + id + ": " + state + ", finished " + finishedAt);
    }
    if (state.isLeased() != lease.isPresent()) {
      throw new IllegalArgumentException("job " + id + ": " + state + ", lease " + lease);
    }
  }
}
