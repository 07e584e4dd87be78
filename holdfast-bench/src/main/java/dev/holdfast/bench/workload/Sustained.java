package dev.holdfast.bench.workload;

import dev.holdfast.bench.contender.JobQueue;
import dev.holdfast.bench.contender.Work;
import dev.holdfast.bench.measure.Bench;
import dev.holdfast.bench.measure.Bench.Measured;
import dev.holdfast.bench.measure.Costs;
import dev.holdfast.bench.measure.Sample;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.LongAdder;

/** W4: four producers of single jobs and one worker, all at once. */
public final class Sustained implements Workload {

  private static final int PRODUCERS = 4;
  private static final Duration TIME = Duration.ofSeconds(30);
  private static final Duration LEAST_TIME = Duration.ofSeconds(6);
  private static final Duration MOST_START = Duration.ofSeconds(30);

  @Override
  public List<Sample> run(Bench bench) throws Exception {
    Duration time = bench.scale().time(TIME, LEAST_TIME);
    bench.prepare(queue -> time);
    Measured<Long> worked = bench.measure(queue -> completed(queue, time));
    return List.of(
        Sample.rate(
            "W4 sustained",
            worked.result() * 1e3 / time.toMillis(),
            Costs.of(worked.spent(), worked.result())));
  }

  /**
   * Jobs completed from the first one on until the time is up: neither how long a worker takes to
   * start and to stop counts, nor what producers were ahead of it in the end.
   */
  private static long completed(JobQueue queue, Duration time) throws Exception {
    Completions completions = new Completions();
    try (AutoCloseable worker = queue.work(completions);
        Producers producers = Producers.start(queue, PRODUCERS)) {
      completions.awaitFirst();
      long before = completions.count.sum();
      Pace.await(time);
      return completions.count.sum() - before;
    }
  }

  private static final class Completions implements Work {
    final LongAdder count = new LongAdder();
    final CountDownLatch first = new CountDownLatch(1);

    @Override
    public void run(int number) {}

    @Override
    public void finished(int jobs) {
      count.add(jobs);
      first.countDown();
    }

    void awaitFirst() throws InterruptedException, TimeoutException {
      if (!first.await(MOST_START.toSeconds(), TimeUnit.SECONDS)) {
        throw new TimeoutException("no job was completed");
      }
    }
  }
}
