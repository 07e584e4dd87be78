package dev.holdfast.server.auth;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Runs at most N tasks at a time, in the order of their arrival. A task that has waited for too
 * long is refused, so that the queue does not grow without bound. Thread-safe.
 */
public final class FairLimit {

  private static final Duration PATIENCE = Duration.ofSeconds(5);

  private final Semaphore turns;

  public FairLimit(int atOnce) {
    this.turns = new Semaphore(atOnce, true);
  }

  /** Runs the task when it is its turn. */
  public <T> T take(Supplier<T> work) {
    if (!isGranted()) {
      throw new HoldfastException(
          ErrorCode.UNAVAILABLE, "too many whom nobody knows ask at once; try again");
    }
    try {
      return work.get();
    } finally {
      turns.release();
    }
  }

  /** Whether a task waits for its turn. */
  public boolean isWaitedFor() {
    return turns.hasQueuedThreads();
  }

  private boolean isGranted() {
    try {
      return turns.tryAcquire(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
