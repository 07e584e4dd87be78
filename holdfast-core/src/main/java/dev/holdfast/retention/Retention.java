package dev.holdfast.retention;

import dev.holdfast.error.HoldfastException;
import java.time.Duration;

/**
 * How long history is kept. While a job is kept, enqueuing its id again means the same job.
 *
 * @param succeeded jobs that succeeded. Defaults to 7 days.
 * @param failed jobs that failed or were cancelled. A job that blocks its target stays until an
 *     operator acts. Defaults to 30 days.
 * @param logs log lines, and attempts that were given back, also of unfinished jobs. Defaults to 7
 *     days.
 * @param slots what became of the slots of schedules. Defaults to 400 days.
 */
public record Retention(Duration succeeded, Duration failed, Duration logs, Duration slots) {

  /** The shortest retention: history must be visible for a while. */
  public static final Duration LEAST = Duration.ofMinutes(1);

  public static final Retention DEFAULTS =
      new Retention(
          Duration.ofDays(7), Duration.ofDays(30), Duration.ofDays(7), Duration.ofDays(400));

  public Retention {
    check("retention.succeeded", succeeded);
    check("retention.failed", failed);
    check("retention.logs", logs);
    check("retention.slots", slots);
  }

  public Retention withSucceeded(Duration succeeded) {
    return new Retention(succeeded, failed, logs, slots);
  }

  public Retention withFailed(Duration failed) {
    return new Retention(succeeded, failed, logs, slots);
  }

  public Retention withLogs(Duration logs) {
    return new Retention(succeeded, failed, logs, slots);
  }

  public Retention withSlots(Duration slots) {
    return new Retention(succeeded, failed, logs, slots);
  }

  private static void check(String setting, Duration length) {
    if (length.compareTo(LEAST) < 0) {
      throw HoldfastException.badConfig(setting, length, LEAST + " or more");
    }
  }
}
