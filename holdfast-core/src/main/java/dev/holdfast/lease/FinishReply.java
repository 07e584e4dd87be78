package dev.holdfast.lease;

import dev.holdfast.job.JobState;

/** Whether the end of an attempt was recorded. Having lost the lease is an answer, not an error. */
public sealed interface FinishReply {

  record Recorded(JobState state) implements FinishReply {}

  /**
   * Not recorded, for a reason other than the lease. The end cannot be stored now and is to be
   * tried again; or, after {@link LeaseSource#finishInTransaction}, the job is not to succeed any
   * more.
   */
  record NotNow(String why) implements FinishReply {}

  /** The lease is no longer in force; nothing was changed. */
  record Lost() implements FinishReply {}
}
