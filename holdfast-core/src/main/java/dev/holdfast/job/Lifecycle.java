package dev.holdfast.job;

import dev.holdfast.job.Policy.OnLeaseLost;
import dev.holdfast.job.Policy.OnStop;
import java.time.Duration;
import java.util.random.RandomGenerator;

/** Decides what becomes of a job after an attempt. Pure: the caller supplies the randomness. */
public final class Lifecycle {

  private Lifecycle() {}

  public static Transition next(
      Attempt attempt, Policy policy, Outcome outcome, RandomGenerator dice) {
    return switch (outcome) {
      case Outcome.Succeeded(Payload result) -> Transition.succeed(result);
      case Outcome.Failed failed -> retryOrFail(attempt, policy, failed, dice);
      case Outcome.Snoozed(Duration delay) -> Transition.giveBack(outcome.stored(), delay);
      case Outcome.Stopped() -> stopped(policy, StopRequest.BY_POLICY);
      // A job that pauses when it is stopped pauses on a drain, too: its target must not go on
      // without it.
      case Outcome.Released(String reason) when policy.onStop() == OnStop.PAUSE ->
          Transition.drained(reason);
      case Outcome.Released released -> Transition.giveBack(released.stored(), Duration.ZERO);
      case Outcome.NeverStarted never -> Transition.giveBack(never.stored(), Duration.ZERO);
      case Outcome.LeaseExpired expired -> afterSilence(attempt, policy, expired);
    };
  }

  /**
   * What becomes of a job that was asked to stop and whose attempt ended in neither success nor
   * final failure.
   */
  public static Transition stopped(Policy policy, StopRequest asked) {
    return asked
        .because()
        .map(failure -> Transition.fail(new Outcome.Stopped().stored(), failure))
        .orElseGet(
            () -> Transition.stop(asked.as().map(Lifecycle::onStop).orElse(policy.onStop())));
  }

  private static OnStop onStop(JobState wanted) {
    return wanted == JobState.PAUSED ? OnStop.PAUSE : OnStop.CANCEL;
  }

  private static Transition retryOrFail(
      Attempt attempt, Policy policy, Outcome.Failed outcome, RandomGenerator dice) {
    Failure failure = outcome.failure();
    if (!failure.retryable() || attempt.isLastOf(policy)) {
      return Transition.fail(outcome.stored(), failure);
    }
    return policy
        .retry()
        .delayAfter(attempt.earlierFailures(), dice)
        .map(delay -> Transition.retry(outcome.stored(), failure, delay))
        .orElseGet(() -> Transition.fail(outcome.stored(), failure));
  }

  // No backoff: as far as is known, the job did nothing wrong. But the attempt counts, or a job
  // that kills its process would go from worker to worker for ever.
  private static Transition afterSilence(
      Attempt attempt, Policy policy, Outcome.LeaseExpired outcome) {
    Failure silence =
        Failure.retryable(
            Failure.LEASE_LOST, "Worker " + outcome.worker() + " stopped renewing its lease");
    return policy.onLeaseLost() == OnLeaseLost.FAIL || attempt.isLastOf(policy)
        ? Transition.fail(outcome.stored(), silence)
        : Transition.retry(outcome.stored(), silence, Duration.ZERO);
  }
}
