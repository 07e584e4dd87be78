package dev.holdfast.bench.workload;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** Keeps an even pace: late ticks are made up for, so the load is what it says. */
final class Pace {

  private final long periodNanos;
  private long nextNanos = System.nanoTime();

  Pace(Duration period) {
    this.periodNanos = period.toNanos();
  }

  void awaitNext() {
    nextNanos += periodNanos;
    awaitNanos(nextNanos);
  }

  static void await(Duration duration) {
    awaitNanos(System.nanoTime() + duration.toNanos());
  }

  private static void awaitNanos(long atNanos) {
    for (long left = atNanos - System.nanoTime(); left > 0; left = atNanos - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
  }
}
