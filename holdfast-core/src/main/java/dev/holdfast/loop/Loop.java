package dev.holdfast.loop;

import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A named thread that calls a step again and again, waiting as long as the step says or until
 * woken. It is never interrupted: a step that began is allowed to end, so a claim that was sent is
 * always followed by running what came back. Thread-safe; closing twice is fine.
 */
public final class Loop implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(Loop.class);

  private static final Duration FIRST_PAUSE_AFTER_ERROR = Duration.ofMillis(100);

  /** How long a step that failed waits at most until it is tried again. */
  public static final Duration LONGEST_PAUSE_AFTER_ERROR = Duration.ofSeconds(5);

  /** One round of work. */
  @FunctionalInterface
  public interface Step {

    /** Does what there is to do and answers how long to wait; zero means there is more. */
    Duration runOnce();
  }

  private final Step step;
  private final Thread thread;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  // Written under lock; volatile so that waking an awake loop costs a read.
  private volatile boolean woken;
  private volatile boolean closed;

  private Loop(String name, Step step) {
    this.step = step;
    this.thread = new Thread(this::run, name);
    thread.setDaemon(true);
  }

  public static Loop start(String name, Step step) {
    Loop loop = new Loop(name, step);
    loop.thread.start();
    return loop;
  }

  /** Ends the current or next wait. */
  public void wake() {
    if (woken) {
      return;
    }
    lock.lock();
    try {
      woken = true;
      changed.signal();
    } finally {
      lock.unlock();
    }
  }

  /** Lets the current step end, and no other begin. */
  @Override
  public void close() {
    closed = true;
    wake();
    boolean interrupted = false;
    while (thread.isAlive() && !Thread.currentThread().equals(thread)) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void run() {
    int failuresInARow = 0;
    while (!closed) {
      Duration pause;
      try {
        pause = step.runOnce();
        failuresInARow = 0;
      } catch (Throwable e) { // an Error in one round must not silence the loop for good
        failuresInARow++;
        pause = pauseAfter(failuresInARow);
        SafeLog.warn(log, thread.getName() + " failed, trying again in " + pause, e);
      }
      await(pause);
    }
  }

  private static Duration pauseAfter(int failuresInARow) {
    Duration pause = FIRST_PAUSE_AFTER_ERROR.multipliedBy(1L << Math.min(failuresInARow - 1, 10));
    return pause.compareTo(LONGEST_PAUSE_AFTER_ERROR) < 0 ? pause : LONGEST_PAUSE_AFTER_ERROR;
  }

  private void await(Duration pause) {
    lock.lock();
    try {
      long nanos = pause.toNanos();
      while (!woken && !closed && nanos > 0) {
        nanos = changed.awaitNanos(nanos);
      }
      woken = false;
    } catch (InterruptedException e) {
      // No code interrupts this thread; a stray interrupt only shortens one wait.
      log.debug("{} was interrupted while waiting", thread.getName());
    } finally {
      lock.unlock();
    }
  }
}
