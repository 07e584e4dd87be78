package dev.holdfast.job;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;

/**
 * The state of a job. The table below is the only list of allowed moves; {@code docs/lifecycle.md}
 * is drawn from it and the schema's CHECK constraints name the same states.
 */
public enum JobState {
  /** Stored, not yet offered to workers. */
  PENDING,
  /** Waits for its time, its turn or a worker. */
  QUEUED,
  /** Given to a remote worker that has not said it started. */
  DISPATCHED,
  /** Leased. Only the holder of the current fence may move it. */
  RUNNING,
  /** Leased, and asked to stop. */
  STOPPING,
  /** Stopped on purpose; waits for an operator to resume, resolve, fail, stop or cancel it. */
  PAUSED,
  /**
   * Finished well. With force, an operator may send it back, or change the state to failed or
   * cancelled.
   */
  SUCCEEDED,
  /**
   * Out of attempts, or failed for good. An operator may send it back or resolve it, or with force
   * cancel it.
   */
  FAILED,
  /**
   * Ended by a person, by its worker or by the scheduler. An operator may send it back, or with
   * force declare it failed.
   */
  CANCELLED;

  private final String stored = name().toLowerCase(Locale.ROOT);

  /** The states that a job in this state can move to. */
  public Set<JobState> next() {
    return switch (this) {
      case PENDING -> EnumSet.of(QUEUED, PAUSED, FAILED, CANCELLED);
      case QUEUED -> EnumSet.of(DISPATCHED, RUNNING, PAUSED, FAILED, CANCELLED);
      case DISPATCHED -> EnumSet.of(QUEUED, RUNNING, STOPPING, FAILED, CANCELLED);
      case RUNNING -> EnumSet.of(QUEUED, STOPPING, PAUSED, SUCCEEDED, FAILED, CANCELLED);
      case STOPPING -> EnumSet.of(QUEUED, PAUSED, SUCCEEDED, FAILED, CANCELLED);
      case PAUSED -> EnumSet.of(QUEUED, SUCCEEDED, FAILED, CANCELLED);
      case SUCCEEDED -> EnumSet.of(QUEUED, FAILED, CANCELLED);
      case FAILED -> EnumSet.of(QUEUED, SUCCEEDED, CANCELLED);
      case CANCELLED -> EnumSet.of(QUEUED, FAILED);
    };
  }

  public boolean canBecome(JobState next) {
    return next().contains(next);
  }

  public boolean isFinished() {
    return this == SUCCEEDED || this == FAILED || this == CANCELLED;
  }

  /**
   * Whether a worker has the right to run the job; its row then has a worker, a fence and an
   * expiry.
   */
  public boolean isLeased() {
    return this == DISPATCHED || this == RUNNING || this == STOPPING;
  }

  /** The name in the tables and in the API. */
  public String stored() {
    return stored;
  }

  public static JobState of(String stored) {
    return Arrays.stream(values())
        .filter(state -> state.stored.equals(stored))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("no job state '" + stored + "'"));
  }
}
