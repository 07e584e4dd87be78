package dev.holdfast.loop;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/**
 * Puts pauses between rounds of work that follow each other without end, so that what arrives in
 * quick succession is done together: every round owes a pause of four times its own length. On a
 * fast machine the pauses are too short to notice; on a busy one, where rounds take longer, there
 * are fewer and larger ones. A few rounds now and then do not wait: what is owed is forgotten as
 * time goes by, and a round waits only when more than 20 ms are owed. Used by one thread.
 */
public final class Pace {

  private static final int TIMES_THE_COST = 4;
  private static final long FREE_NANOS = Duration.ofMillis(20).toNanos();
  private static final long MOST_OWED_NANOS = FREE_NANOS + Duration.ofMillis(20).toNanos();

  private final LongSupplier nanoTime;
  private long owedNanos;
  private long sinceNanos;

  public Pace() {
    this(System::nanoTime);
  }

  Pace(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
    this.sinceNanos = nanoTime.getAsLong();
  }

  /** Waits until the next round may begin. */
  public void begin() {
    long wait = untilNextNanos();
    if (wait > 0) {
      LockSupport.parkNanos(wait);
    }
    forget();
  }

  /** How long the next round has to wait. */
  long untilNextNanos() {
    forget();
    return owedNanos - FREE_NANOS;
  }

  private void forget() {
    long now = nanoTime.getAsLong();
    owedNanos = Math.max(0, owedNanos - (now - sinceNanos));
    sinceNanos = now;
  }

  /** Ends the round, which owes its pause from now on. */
  public void end() {
    long now = nanoTime.getAsLong();
    owedNanos = Math.min(MOST_OWED_NANOS, owedNanos + (now - sinceNanos) * TIMES_THE_COST);
    sinceNanos = now;
  }
}
