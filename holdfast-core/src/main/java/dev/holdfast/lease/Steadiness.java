package dev.holdfast.lease;

import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * How long workers have been able to renew their leases without a break, as far as the reaper can
 * tell: since the database started, and since the reaper itself last came through to it on time.
 * For one thread.
 */
@FunctionalInterface
public interface Steadiness {

  Steadiness ALWAYS = serverUp -> Duration.ofDays(365);

  /** To be asked in every round of the reaper. */
  Duration measure(Duration serverUp);

  /**
   * By the reaper's own rounds.
   *
   * @param period how long its rounds are apart when all is well
   */
  static Steadiness watched(Duration period, LongSupplier nanoTime) {
    return new Steadiness() {
      private final long longestNanos = period.multipliedBy(3).toNanos();
      private long sinceNanos;
      private long lastNanos;
      private boolean begun;

      @Override
      public Duration measure(Duration serverUp) {
        long now = nanoTime.getAsLong();
        if (!begun) {
          begun = true;
          sinceNanos = now - serverUp.toNanos(); // nothing is known to have been wrong
        } else if (now - lastNanos > longestNanos) {
          sinceNanos = now;
        }
        lastNanos = now;
        Duration undisturbed = Duration.ofNanos(now - sinceNanos);
        return undisturbed.compareTo(serverUp) < 0 ? undisturbed : serverUp;
      }
    };
  }
}
