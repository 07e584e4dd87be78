package dev.holdfast.loop;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/**
 * Keeps rounds of work apart, so that what arrives in quick succession is done together: after a
 * round that took a millisecond, the next one waits four. On a fast machine nobody notices; on a
 * busy one, where rounds take longer, there are fewer and larger ones. A round after a quiet time
 * starts at once. Used by one thread.
 */
public final class Pace {

  private static final int TIMES_THE_COST = 4;
  private static final long LONGEST_NANOS = Duration.ofMillis(20).toNanos();

  private long beganNanos = System.nanoTime();
  private long nextNanos = beganNanos;

  /** Waits until the next round may begin. */
  public void begin() {
    long wait = nextNanos - System.nanoTime();
    if (wait > 0) {
      LockSupport.parkNanos(wait);
    }
    beganNanos = System.nanoTime();
  }

  /** The round that began is over. */
  public void end() {
    long now = System.nanoTime();
    nextNanos = now + Math.min(LONGEST_NANOS, (now - beganNanos) * TIMES_THE_COST);
  }
}
