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
 * What people can do to a job, and in which states of the job: without force, or with it, which is
 * for acts that the operator has to answer for. The two tables below are the only list.
 */
public enum JobAct {
  /**
   * Ends the job without undoing what it did. A running job is asked to stop; force ends it at
   * once.
   */
  CANCEL,
  /** Ends the job as its policy says: cancelled or paused. A running job is asked to stop. */
  STOP,
  /** Lets the job wait, and its target with it, until an operator resumes it. */
  PAUSE,
  /** Sends the job back to the queue, at its old place and with one more attempt. */
  RESUME,
  /** Runs the job once more, due now and with one more attempt. */
  RETRY,
  /**
   * Sends the job back to the queue; with force, also from a worker that runs it or from the
   * history.
   */
  REQUEUE,
  /** Declares the job failed. */
  FAIL,
  /** Declares the job succeeded, because a person did its work by hand. */
  RESOLVE,
  /** Gives a waiting job another time, priority, host or tags. */
  CHANGE,
  /** Deletes a finished job and its history. */
  DELETE;

  private final String stored = name().toLowerCase(Locale.ROOT);

  /** The states that allow the act without force. */
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

  /** Further states that allow the act with force. */
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

  /** The name in the audit record and in the API. */
  public String stored() {
    return stored;
  }
}
