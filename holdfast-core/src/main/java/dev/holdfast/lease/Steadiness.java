package dev.holdfast.lease;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.LongSupplier;

/**
 * How long workers could not renew their leases, as far as the reaper can tell: before the database
 * started, and while the reaper itself did not come through to it. For one thread.
 */
@FunctionalInterface
public interface Steadiness {

  /** To be asked once in every round of the reapers. */
  Absence measure(Duration serverUp);

  /** For how much of a time that ends now nobody could reach the database. */
  @FunctionalInterface
  interface Absence {

    Absence NONE = last -> Duration.ZERO;

    Duration within(Duration last);
  }

  /**
   * By the reaper's own rounds. Between a round and one that comes late, the database may have been
   * away all the time. But who is late again and again is only slow: then no more than the delay is
   * counted, or the leases of the dead would last as long as the reaper is slow. One that has just
   * started knows nothing of before: it may be the first to come through after an outage.
   *
   * @param period how long its rounds are apart when all is well
   */
  static Steadiness watched(Duration period, LongSupplier nanoTime) {
    return new Steadiness() {
      private record Gap(long untilNanos, long nanos) {}

      private static final int MOST_GAPS = 1_000;
      private static final long FOR_EVER = Long.MAX_VALUE;

      private final long periodNanos = period.toNanos();
      private final Deque<Gap> gaps = new ArrayDeque<>();
      private long lastNanos;
      private boolean begun;
      private boolean wasLate;

      @Override
      public Absence measure(Duration serverUp) {
        long now = nanoTime.getAsLong();
        long gap = begun ? now - lastNanos : FOR_EVER;
        boolean isLate = gap > periodNanos * 3 / 2;
        if (isLate) {
          gaps.addLast(new Gap(now, wasLate ? gap - periodNanos : gap));
          if (gaps.size() > MOST_GAPS) {
            gaps.removeFirst();
          }
        }
        wasLate = begun && isLate;
        begun = true;
        lastNanos = now;
        return last -> within(last, now, serverUp);
      }

      private Duration within(Duration last, long now, Duration serverUp) {
        long begin = now - Math.min(last.toNanos(), serverUp.toNanos());
        long away = 0;
        for (Gap each : gaps) {
          away += Math.max(0, Math.min(each.nanos, each.untilNanos - begin));
        }
        Duration beforeStart = last.minus(serverUp);
        return Duration.ofNanos(away).plus(beforeStart.isNegative() ? Duration.ZERO : beforeStart);
      }
    };
  }
}
