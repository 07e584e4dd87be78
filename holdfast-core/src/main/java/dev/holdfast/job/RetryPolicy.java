package dev.holdfast.job;

import dev.holdfast.error.HoldfastException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.random.RandomGenerator;

/** How long to wait before the next attempt. {@link Policy} says how many attempts there are. */
public sealed interface RetryPolicy {

  Duration LONGEST_DELAY = Duration.ofDays(30);

  /**
   * How long to wait after a failure.
   *
   * @param earlierFailures failed attempts before the one that failed now
   * @return empty when a failure is final
   */
  Optional<Duration> delayAfter(int earlierFailures, RandomGenerator dice);

  record None() implements RetryPolicy {
    @Override
    public Optional<Duration> delayAfter(int earlierFailures, RandomGenerator dice) {
      return Optional.empty();
    }
  }

  /** One delay per failure; the last one repeats. */
  record Delays(List<Duration> delays) implements RetryPolicy {

    public static final Delays DEFAULTS =
        new Delays(List.of(Duration.ofMinutes(1), Duration.ofMinutes(5), Duration.ofMinutes(15)));

    public Delays {
      if (delays.isEmpty() || delays.size() > 100) {
        throw HoldfastException.invalid(
            "retry.delays_seconds", delays.size() + " delays", "1 to 100 delays");
      }
      delays.forEach(delay -> checkDelay("retry.delays_seconds", delay));
      delays = List.copyOf(delays);
    }

    @Override
    public Optional<Duration> delayAfter(int earlierFailures, RandomGenerator dice) {
      return Optional.of(delays.get(Math.min(earlierFailures, delays.size() - 1)));
    }
  }

  /**
   * {@code min(cap, base · 2^n)} plus a random share of that, so that jobs that failed together are
   * not retried all at once.
   */
  record Exponential(Duration base, Duration cap, double jitter) implements RetryPolicy {

    public static final Exponential DEFAULTS =
        new Exponential(Duration.ofSeconds(30), Duration.ofHours(1), 0.2);

    public Exponential {
      checkDelay("retry.base_seconds", base);
      checkDelay("retry.cap_seconds", cap);
      if (!(jitter >= 0 && jitter <= 1)) {
        throw HoldfastException.invalid("retry.jitter", jitter, "0 to 1");
      }
    }

    @Override
    public Optional<Duration> delayAfter(int earlierFailures, RandomGenerator dice) {
      double doubled = base.toMillis() * Math.pow(2, earlierFailures);
      long delayMillis = Math.min(cap.toMillis(), Math.round(doubled));
      long jitterMillis = (long) (delayMillis * jitter * dice.nextDouble());
      return Optional.of(Duration.ofMillis(delayMillis + jitterMillis));
    }
  }

  private static void checkDelay(String field, Duration delay) {
    if (delay.isNegative() || delay.compareTo(LONGEST_DELAY) > 0) {
      throw HoldfastException.invalid(field, delay, "0 to 30 days");
    }
  }
}
