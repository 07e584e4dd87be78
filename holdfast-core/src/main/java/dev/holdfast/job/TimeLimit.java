package dev.holdfast.job;

import dev.holdfast.error.HoldfastException;
import java.time.Duration;
import java.util.Optional;

/** How long one attempt may run. "No limit" is a value of its own, so that a job can ask for it. */
public record TimeLimit(Optional<Duration> length) {

  public static final TimeLimit NONE = new TimeLimit(Optional.empty());

  public TimeLimit {
    length.ifPresent(limit -> {
      if (limit.compareTo(Duration.ofMillis(1)) < 0 || limit.compareTo(Duration.ofDays(30)) > 0) {
        throw HoldfastException.invalid("timeout", limit, "1 ms to 30 days, or none");
      }
    });
  }

  public static TimeLimit of(Duration length) {
    return new TimeLimit(Optional.of(length));
  }
}
