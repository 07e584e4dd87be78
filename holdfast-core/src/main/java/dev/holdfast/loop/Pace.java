package dev.holdfast.loop;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/**
 * Keeps rounds of work apart, so that what arrives in quick succession is done together. A round
 * after a quiet time starts at once: only a busy loop waits, and then no longer than the gap. Used
 * by one thread.
 */
public final class Pace {

  private final long gapNanos;
  private long nextNanos = System.nanoTime();

  public Pace(Duration gap) {
    this.gapNanos = gap.toNanos();
  }

  public void await() {
    long wait = nextNanos - System.nanoTime();
    if (wait > 0) {
      LockSupport.parkNanos(wait);
    }
    nextNanos = System.nanoTime() + gapNanos;
  }
}
