package dev.holdfast.job;

import java.time.Duration;
import java.util.Optional;

/**
 * What is written when an attempt ends: the next state and everything that goes with it. Only the
 * factories below create one, so a failure without its code or a retry without its delay cannot be
 * written. Delays are durations, not moments: the database adds them to its own clock.
 */
public record Transition(
    JobState to,
    String attemptOutcome,
    Duration delay,
    boolean refundsAttempt,
    boolean countsAsFailure,
    Optional<Failure> failure,
    Payload result) {

  static final String INTERRUPTED = "Job was interrupted by user";

  public Transition {
    if (!JobState.RUNNING.canBecome(to)) {
      throw new IllegalArgumentException("an attempt cannot end in " + to);
    }
  }

  private static final Transition SUCCEED = succeedWith(Payload.NULL);

  static Transition succeed(Payload result) {
    return result.equals(Payload.NULL) ? SUCCEED : succeedWith(result);
  }

  private static Transition succeedWith(Payload result) {
    return new Transition(
        JobState.SUCCEEDED,
        new Outcome.Succeeded(result).stored(),
        Duration.ZERO,
        false,
        false,
        Optional.empty(),
        result);
  }

  static Transition retry(String attemptOutcome, Failure failure, Duration delay) {
    return new Transition(
        JobState.QUEUED, attemptOutcome, delay, false, true, Optional.of(failure), Payload.NULL);
  }

  static Transition fail(String attemptOutcome, Failure failure) {
    return new Transition(
        JobState.FAILED,
        attemptOutcome,
        Duration.ZERO,
        false,
        true,
        Optional.of(failure),
        Payload.NULL);
  }

  /** Sends the job back to the queue without counting the attempt. */
  static Transition giveBack(String attemptOutcome, Duration delay) {
    return new Transition(
        JobState.QUEUED, attemptOutcome, delay, true, false, Optional.empty(), Payload.NULL);
  }

  /** An operator ended the attempt without waiting for the worker. */
  public static Transition forced(JobState to, Failure failure) {
    return new Transition(
        to, "forced", Duration.ZERO, false, false, Optional.of(failure), Payload.NULL);
  }

  /** An operator took the job from its worker, for another worker to run. */
  public static Transition requeued() {
    return giveBack("requeued", Duration.ZERO);
  }

  /**
   * Paused, because its worker closes and it is not known whether the job may continue elsewhere.
   */
  static Transition drained(String reason) {
    Failure interrupted = Failure.permanent(Failure.DRAINED, "Job was interrupted: " + reason);
    return new Transition(
        JobState.PAUSED,
        new Outcome.Released(reason).stored(),
        Duration.ZERO,
        true,
        false,
        Optional.of(interrupted),
        Payload.NULL);
  }

  static Transition stop(Policy.OnStop onStop) {
    JobState to = onStop == Policy.OnStop.PAUSE ? JobState.PAUSED : JobState.CANCELLED;
    Failure interrupted = Failure.permanent("STOPPED", INTERRUPTED);
    return new Transition(
        to,
        new Outcome.Stopped().stored(),
        Duration.ZERO,
        false,
        false,
        Optional.of(interrupted),
        Payload.NULL);
  }
}
