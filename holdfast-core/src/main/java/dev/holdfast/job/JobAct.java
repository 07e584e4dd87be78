package dev.holdfast.job;

import static dev.holdfast.job.JobState.CANCELLED;
import static dev.holdfast.job.JobState.DISPATCHED;
import static dev.holdfast.job.JobState.FAILED;
import static dev.holdfast.job.JobState.PAUSED;
import static dev.holdfast.job.JobState.PENDING;
import static dev.holdfast.job.JobState.QUEUED;
import static dev.holdfast.job.JobState.RUNNING;
import static dev.holdfast.job.JobState.STOPPING;
import static dev.holdfast.job.JobState.SUCCEEDED;

import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;

/**
 * What people can do to a job, and in which states: as it is, or with force, when they answer for
 * it. The two tables below are the only list.
 */
public enum JobAct {
  /**
   * Ends it without rolling back what it did. A running one is asked to stop; force ends it now.
   */
  CANCEL,
  /** Lets it end as its own policy says: cancelled or paused. */
  STOP,
  /** Lets it wait, and its target with it, until somebody resumes it. */
  PAUSE,
  /** Back to the queue at its old place, with one more attempt. */
  RESUME,
  /** Once more, now. */
  RETRY,
  /** Back to the queue, whoever has it. */
  REQUEUE,
  /** It has failed, on somebody's word. */
  FAIL,
  /** Somebody did by hand what it was to do. */
  RESOLVE,
  /** Another time, place in line, or tags. */
  CHANGE,
  /** Out of the history, for good. */
  DELETE;

  private final String stored = name().toLowerCase(Locale.ROOT);

  /** The states in which it can be done. */
  public Set<JobState> from() {
    return switch (this) {
      case CANCEL, STOP -> EnumSet.of(PENDING, QUEUED, DISPATCHED, RUNNING, STOPPING, PAUSED);
      case PAUSE -> EnumSet.of(PENDING, QUEUED, DISPATCHED, RUNNING, STOPPING);
      case RESUME, RESOLVE -> EnumSet.of(PAUSED, FAILED);
      case RETRY -> EnumSet.of(FAILED, CANCELLED);
      case REQUEUE -> EnumSet.of(PENDING, DISPATCHED);
      case FAIL -> EnumSet.of(PENDING, DISPATCHED, RUNNING, STOPPING, PAUSED);
      case CHANGE -> EnumSet.of(PENDING, QUEUED);
      case DELETE -> EnumSet.of(SUCCEEDED, FAILED, CANCELLED);
    };
  }

  /** The states in which it can be done by force. */
  public Set<JobState> byForceFrom() {
    return switch (this) {
      case CANCEL -> EnumSet.of(SUCCEEDED, FAILED);
      case REQUEUE -> EnumSet.of(RUNNING, STOPPING, SUCCEEDED, FAILED, CANCELLED);
      case FAIL -> EnumSet.of(QUEUED, SUCCEEDED, CANCELLED);
      case STOP, PAUSE, RESUME, RETRY, RESOLVE, CHANGE, DELETE -> EnumSet.noneOf(JobState.class);
    };
  }

  public boolean isAllowed(JobState state, boolean force) {
    return from().contains(state) || (force && byForceFrom().contains(state));
  }

  /** As it is recorded, and said on the wire. */
  public String stored() {
    return stored;
  }
}
