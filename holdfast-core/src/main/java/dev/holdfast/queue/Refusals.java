package dev.holdfast.queue;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Job;
import dev.holdfast.job.JobAct;
import java.util.UUID;

/** The exceptions with which acts are refused. */
final class Refusals {

  private Refusals() {}

  static HoldfastException noSuchJob(UUID id) {
    return new HoldfastException(ErrorCode.NOT_FOUND, "no job " + id);
  }

  static HoldfastException notInItsState(JobAct what, Job job) {
    return new HoldfastException(
        ErrorCode.STATE_CONFLICT,
        "cannot %s job %s: it is %s%s"
            .formatted(
                what.stored(),
                job.id(),
                job.state().stored(),
                what.byForceFrom().contains(job.state()) ? ", which takes force" : ""));
  }

  static HoldfastException noLongerThere(Job job) {
    return new HoldfastException(
        ErrorCode.STATE_CONFLICT, "job " + job.id() + " is no longer " + job.state().stored());
  }

  static HoldfastException stillHolds(JobAct what, UUID id) {
    return new HoldfastException(
        ErrorCode.STATE_CONFLICT,
        "cannot %s job %s: its last worker may still be at it".formatted(what.stored(), id));
  }

  static HoldfastException beingEnqueued(Job job, Exception cause) {
    return new HoldfastException(
        ErrorCode.STATE_CONFLICT,
        "somebody is just enqueueing a job with the id or the unique key of job " + job.id(),
        cause);
  }

  static HoldfastException sameUniqueKey(Exception cause) {
    return new HoldfastException(
        ErrorCode.STATE_CONFLICT, "another unfinished job has the same unique key", cause);
  }
}
