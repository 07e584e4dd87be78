package dev.holdfast.job;

import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * A job as stored, live or finished. SQL NULL became Optional in the row mapper and goes no
 * further.
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
    long fence,
    Optional<LeaseInfo> lease,
    Progress progress,
    Optional<Payload> result,
    Optional<String> errorCode,
    Optional<String> errorMessage,
    Instant createdAt,
    Optional<Instant> startedAt,
    Optional<Instant> finishedAt) {

  /** Who has the right to run the job, and until when. */
  public record LeaseInfo(String owner, Instant expiresAt) {}

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
