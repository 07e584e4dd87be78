package dev.holdfast.server.http;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Tells requests that would last long that the node ends: whoever streams or waits comes to an end
 * at once, instead of being cut off. Thread-safe.
 */
final class Ending {

  private final CountDownLatch begun = new CountDownLatch(1);

  void begin() {
    begun.countDown();
  }

  boolean hasBegun() {
    return begun.getCount() == 0;
  }

  /** Waits for so long, or until the node ends; false when it does. */
  boolean pause(Duration length) throws InterruptedException {
    return !begun.await(length.toNanos(), TimeUnit.NANOSECONDS);
  }
}
