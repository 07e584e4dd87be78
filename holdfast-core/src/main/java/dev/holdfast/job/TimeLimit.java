package dev.holdfast.job;

import dev.holdfast.error.HoldfastException;
import java.time.Duration;
import java.util.Optional;

/** How long one attempt may run. "No limit" is an explicit value, so that a job can ask for it. */
public record TimeLimit(Optional<Duration> length) {

  public static final Duration LONGEST = Duration.ofDays(30);
  private static final Duration SHORTEST = Duration.ofMillis(1);

  public static final TimeLimit NONE = new TimeLimit(Optional.empty());

  public TimeLimit {
    length.ifPresent(limit -> {
      if (!isAllowed(limit)) {
        throw HoldfastException.invalid("timeout", limit, "1 ms to 30 days, or none");
      }
    });
  }

  public static boolean isAllowed(Duration length) {
    return length.compareTo(SHORTEST) >= 0 && length.compareTo(LONGEST) <= 0;
  }

  public static TimeLimit of(Duration length) {
    return new TimeLimit(Optional.of(length));
  }
}
