package dev.holdfast.bench.workload;

import dev.holdfast.bench.contender.JobQueue;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** Threads that enqueue one job after the other, each at its pace or as fast as it can. */
final class Producers implements AutoCloseable {

  private final JobQueue queue;
  private final Duration period;
  private final AtomicInteger nextNumber = new AtomicInteger();
  private final List<Thread> threads = new ArrayList<>();
  private volatile boolean closed;

  private Producers(JobQueue queue, Duration period) {
    this.queue = queue;
    this.period = period;
  }

  static Producers start(JobQueue queue, int threads) {
    return startPaced(queue, threads, Duration.ZERO);
  }

  /** Every thread enqueues one job a period. */
  static Producers startPaced(JobQueue queue, int threads, Duration period) {
    Producers producers = new Producers(queue, period);
    for (int thread = 0; thread < threads; thread++) {
      producers.threads.add(Thread.ofPlatform().name("producer").start(producers::produce));
    }
    return producers;
  }

  @Override
  public void close() throws InterruptedException {
    closed = true;
    for (Thread thread : threads) {
      thread.join();
    }
  }

  private void produce() {
    Pace pace = new Pace(period);
    while (!closed) {
      pace.awaitNext();
      queue.enqueue(nextNumber.getAndIncrement());
    }
  }
}
