package dev.holdfast.job;

import java.util.Optional;

/**
 * A request that a running job stop.
 *
 * @param as the state it is to end in; empty leaves that to the job's policy
 * @param because why it fails, if it is to end as failed
 */
public record StopRequest(Optional<JobState> as, Optional<Failure> because) {

  public static final StopRequest BY_POLICY = new StopRequest(Optional.empty(), Optional.empty());

  public StopRequest {
    if (because.isPresent() != as.equals(Optional.of(JobState.FAILED))) {
      throw new IllegalArgumentException("only a failure has a reason, and every one has");
    }
  }
}
