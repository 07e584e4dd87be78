package dev.holdfast.bench.workload;

import dev.holdfast.bench.contender.Work;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Jobs 0 to n-1 that do nothing but count, each for itself, how often it ran. Others are run and
 * not counted. Thread-safe.
 */
final class CountedWork implements Work {

  private static final long MOST_SECONDS = 600;

  private final AtomicIntegerArray runs;
  private final AtomicLong firstClaimNanos = new AtomicLong();
  private final AtomicLong lastFinishNanos = new AtomicLong();
  private final AtomicLong finished = new AtomicLong();
  private final CountDownLatch done = new CountDownLatch(1);

  CountedWork(int jobs) {
    this.runs = new AtomicIntegerArray(jobs);
  }

  @Override
  public void run(int number) {
    if (number < runs.length()) {
      runs.incrementAndGet(number);
    }
  }

  @Override
  public void claimed(int jobs, Duration took) {
    if (jobs > 0 && firstClaimNanos.get() == 0) {
      firstClaimNanos.compareAndSet(0, System.nanoTime() - took.toNanos());
    }
  }

  @Override
  public void finished(int jobs) {
    if (finished.addAndGet(jobs) >= runs.length() && lastFinishNanos.get() == 0) {
      lastFinishNanos.compareAndSet(0, System.nanoTime());
      done.countDown();
    }
  }

  /** Waits until as many jobs are finished as there are. */
  void await() throws InterruptedException, TimeoutException {
    if (!done.await(MOST_SECONDS, TimeUnit.SECONDS)) {
      throw new TimeoutException(finished + " of " + runs.length() + " jobs finished");
    }
  }

  long finished() {
    return finished.get();
  }

  /** From the first claim to the commit of the last end. */
  double seconds() {
    return (lastFinishNanos.get() - firstClaimNanos.get()) / 1e9;
  }

  double jobsPerSecond() {
    return runs.length() / seconds();
  }

  void checkEachRanOnce() {
    for (int number = 0; number < runs.length(); number++) {
      if (runs.get(number) != 1) {
        throw new IllegalStateException("job " + number + " ran " + runs.get(number) + " times");
      }
    }
  }
}
