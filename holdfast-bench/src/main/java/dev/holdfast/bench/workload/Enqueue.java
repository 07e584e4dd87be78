package dev.holdfast.bench.workload;

import dev.holdfast.bench.contender.Chunks;
import dev.holdfast.bench.contender.JobQueue;
import dev.holdfast.bench.measure.Bench;
import dev.holdfast.bench.measure.Bench.Measured;
import dev.holdfast.bench.measure.Costs;
import dev.holdfast.bench.measure.Sample;
import java.util.ArrayList;
import java.util.List;

/** W2: durable enqueues, one by one from one thread and from many, and in bulk. No worker runs. */
public final class Enqueue implements Workload {

  private static final int SINGLE_JOBS = 10_000;
  private static final int LEAST_SINGLE_JOBS = 4_000;
  private static final int THREADED_JOBS = 3 * SINGLE_JOBS;
  private static final int LEAST_THREADED_JOBS = 3 * LEAST_SINGLE_JOBS;
  private static final int BULK_JOBS = 500_000;
  private static final int LEAST_BULK_JOBS = 100_000;
  private static final int THREADS = 16;
  private static final int WARM_UP_JOBS = 3_000;

  @Override
  public List<Sample> run(Bench bench) throws Exception {
    int singles = bench.jobs(SINGLE_JOBS, LEAST_SINGLE_JOBS);
    int manyThreads = bench.jobs(THREADED_JOBS, LEAST_THREADED_JOBS);
    int bulk = bench.jobs(BULK_JOBS, LEAST_BULK_JOBS);
    return List.of(
        rate(bench, "W2a enqueue, 1 thread", singles, queue -> enqueue(queue, 1, singles)),
        rate(
            bench,
            "W2b enqueue, 16 threads",
            manyThreads,
            queue -> enqueue(queue, THREADS, manyThreads)),
        rate(
            bench,
            "W2c bulk enqueue",
            bulk,
            queue -> {
              Chunks.of(bulk).forEach(queue::enqueueAll);
              return bulk;
            }));
  }

  private static Sample rate(Bench bench, String row, int jobs, Bench.Action<Integer> action)
      throws Exception {
    bench.prepare(Enqueue::warmUp);
    Measured<Integer> done = bench.measure(action);
    long stored = storedBy(bench) - WARM_UP_JOBS;
    if (stored != jobs) {
      throw new IllegalStateException(stored + " of " + jobs + " jobs were stored");
    }
    return Sample.rate(row, jobs / done.spent().seconds(), Costs.of(done.spent(), jobs))
        .withJobs(jobs);
  }

  /** Plans, connections and the compiled code are warm after that. */
  private static int warmUp(JobQueue queue) {
    for (int number = 0; number < WARM_UP_JOBS; number++) {
      queue.enqueue(JobQueue.FIRST_FILLING + number);
    }
    return WARM_UP_JOBS;
  }

  private static long storedBy(Bench bench) {
    try (JobQueue queue = bench.contender().open(bench.server())) {
      return queue.unfinished();
    }
  }

  private static int enqueue(JobQueue queue, int threads, int jobs) throws InterruptedException {
    List<Thread> producers = new ArrayList<>();
    for (int thread = 0; thread < threads; thread++) {
      int from = (int) ((long) jobs * thread / threads);
      int to = (int) ((long) jobs * (thread + 1) / threads);
      producers.add(
          Thread.ofPlatform()
              .start(() -> {
                for (int number = from; number < to; number++) {
                  queue.enqueue(number);
                }
              }));
    }
    for (Thread producer : producers) {
      producer.join();
    }
    return jobs;
  }
}
