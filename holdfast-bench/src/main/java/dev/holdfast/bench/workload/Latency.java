package dev.holdfast.bench.workload;

import dev.holdfast.bench.contender.JobQueue;
import dev.holdfast.bench.contender.Work;
import dev.holdfast.bench.measure.Bench;
import dev.holdfast.bench.measure.Durations;
import dev.holdfast.bench.measure.Sample;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.IntConsumer;

/** W3: from the return of the enqueue, that is its commit, to the start of the handler. */
public final class Latency implements Workload {

  private static final Duration PERIOD = Duration.ofMillis(20);
  private static final int JOBS = 2_000;
  private static final int LEAST_JOBS = 500;
  private static final int WARM_UP_JOBS = 50;

  @Override
  public List<Sample> run(Bench bench) throws Exception {
    int jobs = WARM_UP_JOBS + bench.scale().jobs(JOBS, LEAST_JOBS);
    bench.prepare(queue -> jobs);
    Durations here = bench.measure(queue -> latencies(queue, queue::enqueue, jobs)).result();
    Durations there =
        bench.measure(queue -> latencies(queue, queue::enqueueElsewhere, jobs)).result();
    return List.of(
        Sample.of("W3 latency p50, same process", "ms", here.millisAt(0.5)),
        Sample.of("W3 latency p99, same process", "ms", here.millisAt(0.99)),
        Sample.of("W3 latency p50, other process", "ms", there.millisAt(0.5)),
        Sample.of("W3 latency p99, other process", "ms", there.millisAt(0.99)));
  }

  private static Durations latencies(JobQueue queue, IntConsumer enqueue, int jobs)
      throws Exception {
    AtomicLongArray committed = new AtomicLongArray(jobs);
    Starts starts = new Starts(jobs);
    try (AutoCloseable worker = queue.work(starts)) {
      Pace pace = new Pace(PERIOD);
      for (int number = 0; number < jobs; number++) {
        pace.awaitNext();
        enqueue.accept(number);
        committed.set(number, System.nanoTime());
      }
      starts.await();
    }
    Durations latencies = new Durations();
    for (int number = WARM_UP_JOBS; number < jobs; number++) {
      // A handler can start before the enqueue returns, since workers are woken just before that.
      latencies.add(Math.max(0, starts.nanos.get(number) - committed.get(number)));
    }
    return latencies;
  }

  /** When each job started. */
  private static final class Starts implements Work {
    final AtomicLongArray nanos;
    final CountDownLatch left;

    Starts(int jobs) {
      nanos = new AtomicLongArray(jobs);
      left = new CountDownLatch(jobs);
    }

    @Override
    public void run(int number) {
      nanos.set(number, System.nanoTime());
      left.countDown();
    }

    void await() throws InterruptedException, TimeoutException {
      if (!left.await(30, TimeUnit.SECONDS)) {
        throw new TimeoutException(left.getCount() + " jobs did not start");
      }
    }
  }
}
