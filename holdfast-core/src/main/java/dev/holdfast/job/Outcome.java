package dev.holdfast.job;

import dev.holdfast.error.HoldfastException;
import java.time.Duration;

/** How an attempt ended. {@link Lifecycle} decides what that means for the job. */
public sealed interface Outcome {

  record Succeeded(Payload result) implements Outcome {}

  record Failed(Failure failure) implements Outcome {}

  /** The handler asks to be called again later. Costs no attempt. */
  record Snoozed(Duration delay) implements Outcome {
    public Snoozed {
      if (delay.isNegative() || delay.compareTo(Duration.ofDays(366)) > 0) {
        throw HoldfastException.invalid("delay_seconds", delay, "0 to 366 days");
      }
    }
  }

  /** The job was asked to stop, and the handler ended because of that. */
  record Stopped() implements Outcome {}

  /** Given back unfinished by a worker that drains or closes. Costs no attempt. */
  record Released(String reason) implements Outcome {}

  /**
   * The worker could not renew its lease in time. The reaper ends the attempt for a silent worker.
   */
  record LeaseExpired(String worker) implements Outcome {}

  /**
   * A remote worker never said that it started and the reaper takes the job back, or the answer
   * that granted the job certainly did not reach it. Costs no attempt.
   */
  record NeverStarted() implements Outcome {}

  /** The word that is stored for it with the attempt, and by which a repeated end is recognised. */
  default String stored() {
    return switch (this) {
      case Succeeded succeeded -> "succeeded";
      case Failed failed -> "failed";
      case Snoozed snoozed -> "snoozed";
      case Stopped stopped -> "stopped";
      case Released released -> "released";
      case LeaseExpired expired -> "lost"; // whether its worker says so or the reaper
      case NeverStarted never -> "never_started";
    };
  }

  static Outcome succeeded() {
    return new Succeeded(Payload.NULL);
  }

  static Outcome succeeded(Payload result) {
    return new Succeeded(result);
  }

  static Outcome failed(Failure failure) {
    return new Failed(failure);
  }

  static Outcome snoozed(Duration delay) {
    return new Snoozed(delay);
  }
}
