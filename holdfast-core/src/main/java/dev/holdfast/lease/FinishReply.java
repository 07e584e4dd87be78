package dev.holdfast.lease;

import dev.holdfast.job.JobState;

/** Whether the end of an attempt was recorded. Having lost the lease is an answer, not an error. */
public sealed interface FinishReply {

  record Recorded(JobState state) implements FinishReply {}

  /** It could not be recorded alone, and not for its own fault: to be tried again. */
  record NotNow(String why) implements FinishReply {}

  /** Somebody else has the job now; nothing was changed. */
  record Lost() implements FinishReply {}
}
