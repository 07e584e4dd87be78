package dev.holdfast.job;

import java.util.Optional;

/**
 * What was asked of a running job that is to stop.
 *
 * @param as what it is to end as; empty leaves it to the job's policy
 * @param because why it has failed, when that is what it is to end as
 */
public record StopRequest(Optional<JobState> as, Optional<Failure> because) {

  public static final StopRequest BY_POLICY = new StopRequest(Optional.empty(), Optional.empty());

  public StopRequest {
    if (because.isPresent() != as.equals(Optional.of(JobState.FAILED))) {
      throw new IllegalArgumentException("only a failure has a reason, and every one has");
    }
  }
}
