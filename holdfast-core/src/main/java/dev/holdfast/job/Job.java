package dev.holdfast.job;

import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * A job as stored, live or finished. The row mapper has turned every SQL NULL into an Optional.
 *
 * @param granted attempts that operators granted on top of the policy's
 * @param policy the policy in force now: the job's own settings, over its queue's, over the
 *     defaults
 * @param doneReason why it counts as done: its worker said so, it has as many results as it was
 *     enqueued for, or an operator resolved it
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

  /** The worker that has the right to run the job, and until when. */
  public record LeaseInfo(String owner, Instant expiresAt) {}

  /** Tokens used by all its attempts so far. */
  public record Usage(long inputTokens, long outputTokens) {}

  /** How many attempts it may have: the policy's, and those granted. */
  public int maxAttempts() {
    return policy.maxAttempts() + granted;
  }

  public Job {
    // The schema has the same rules. They are checked again, so that a bad row fails where it is
    // read.
    if (state.isFinished() != finishedAt.isPresent()) {
      throw new IllegalArgumentException("job " + id + ": " + state + ", finished " + finishedAt);
    }
    if (state.isLeased() != lease.isPresent()) {
      throw new IllegalArgumentException("job " + id + ": " + state + ", lease " + lease);
    }
  }
}
