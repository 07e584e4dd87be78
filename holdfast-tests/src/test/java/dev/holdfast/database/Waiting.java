package dev.holdfast.database;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** Real time that has to pass, where it is what a rig is about. */
final class Waiting {

  private Waiting() {}

  static void until(long beganNanos, Duration time) {
    for (long left = time.toNanos();
        left > 0;
        left = beganNanos + time.toNanos() - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
  }
}
