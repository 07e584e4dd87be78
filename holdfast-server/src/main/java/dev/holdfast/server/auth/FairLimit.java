package dev.holdfast.server.auth;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Lets a few do something at a time, in the order of their coming. Who has waited for too long is
 * told to come again, so that a line never grows longer than what it waits for. Thread-safe.
 */
public final class FairLimit {

  private static final Duration PATIENCE = Duration.ofSeconds(5);

  private final Semaphore turns;

  public FairLimit(int atOnce) {
    this.turns = new Semaphore(atOnce, true);
  }

  /** Does it when it is its turn. */
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

  private boolean isGranted() {
    try {
      return turns.tryAcquire(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
