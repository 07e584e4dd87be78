package dev.holdfast.chaos;

import dev.holdfast.error.HoldfastException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * For what the rig itself asks of Holdfast: it is hit like all others, by a database that crashes
 * or by a machine that has no time for it, and asks again.
 */
final class Again {

  private static final Duration PATIENCE = Duration.ofMinutes(2);
  private static final Duration PAUSE = Duration.ofMillis(500);

  private Again() {}

  /** Of questions and acts that may be repeated. */
  static <T> T until(Supplier<T> answered) throws InterruptedException {
    long began = System.nanoTime();
    while (true) {
      try {
        return answered.get();
      } catch (HoldfastException e) {
        if (System.nanoTime() - began > PATIENCE.toNanos()) {
          throw e;
        }
        TimeUnit.MILLISECONDS.sleep(PAUSE.toMillis());
      }
    }
  }

  static void until(Runnable done) throws InterruptedException {
    boolean unused =
        until(() -> {
          done.run();
          return true;
        });
  }
}
