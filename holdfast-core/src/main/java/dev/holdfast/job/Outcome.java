package dev.holdfast.job;

import dev.holdfast.error.HoldfastException;
import java.time.Duration;

/** How an attempt ended, before anybody decided what that means for the job. */
public sealed interface Outcome {

  record Succeeded(Payload result) implements Outcome {}

  record Failed(Failure failure) implements Outcome {}

  /** Not now: try again later. Costs no attempt. */
  record Snoozed(Duration delay) implements Outcome {
    public Snoozed {
      if (delay.isNegative() || delay.compareTo(Duration.ofDays(366)) > 0) {
        throw HoldfastException.invalid("delay_seconds", delay, "0 to 366 days");
      }
    }
  }

  /** Somebody asked for the stop, and the handler ended because of it. */
  record Stopped() implements Outcome {}

  /** Handed back unfinished by a drain. Costs no attempt. */
  record Released(String reason) implements Outcome {}

  /** Nobody reported; the reaper speaks for the silent worker. */
  record LeaseExpired(String worker) implements Outcome {}

  /** Nobody said that it started; the reaper takes it back. Costs no attempt. */
  record NeverStarted() implements Outcome {}

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
