package dev.holdfast.lease;

import java.time.Duration;
import java.util.function.LongSupplier;
import org.jdbi.v3.core.Handle;

/**
 * How long workers have been able to renew their leases without a break, as far as the reaper can
 * tell: since the database started, and since the reaper itself last came through to it on time.
 * For one thread.
 */
@FunctionalInterface
public interface Steadiness {

  Steadiness ALWAYS = handle -> Duration.ofDays(365);

  Duration measure(Handle handle);

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
      public Duration measure(Handle handle) {
        double upSeconds =
            handle
                .createQuery("SELECT extract(epoch FROM now() - pg_postmaster_start_time())")
                .mapTo(Double.class)
                .one();
        Duration up = Duration.ofMillis((long) (upSeconds * 1000));
        long now = nanoTime.getAsLong();
        if (!begun) {
          begun = true;
          sinceNanos = now - up.toNanos(); // nothing is known to have been wrong
        } else if (now - lastNanos > longestNanos) {
          sinceNanos = now;
        }
        lastNanos = now;
        Duration undisturbed = Duration.ofNanos(now - sinceNanos);
        return undisturbed.compareTo(up) < 0 ? undisturbed : up;
      }
    };
  }
}
