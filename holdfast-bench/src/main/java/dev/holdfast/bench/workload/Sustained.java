package dev.holdfast.bench.workload;

import dev.holdfast.bench.contender.JobQueue;
import dev.holdfast.bench.contender.Work;
import dev.holdfast.bench.measure.Bench;
import dev.holdfast.bench.measure.Bench.Measured;
import dev.holdfast.bench.measure.Costs;
import dev.holdfast.bench.measure.Sample;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;

/** W4: four producers of single jobs and one worker, all at once. */
public final class Sustained implements Workload {

  private static final int PRODUCERS = 4;
  private static final Duration TIME = Duration.ofSeconds(30);
  private static final Duration LEAST_TIME = Duration.ofSeconds(6);

  @Override
  public List<Sample> run(Bench bench) throws Exception {
    Duration time = bench.scale().time(TIME, LEAST_TIME);
    bench.prepare(queue -> time);
    Measured<Long> worked = bench.measure(queue -> completed(queue, time));
    return List.of(
        Sample.of(
            "W4 sustained",
            "jobs/s",
            worked.result() / worked.spent().seconds(),
            Costs.of(worked.spent(), worked.result())));
  }

  /**
   * Jobs completed when the time was up; what producers were ahead of the worker does not count.
   */
  private static long completed(JobQueue queue, Duration time) throws Exception {
    LongAdder completed = new LongAdder();
    Work work =
        new Work() {
          @Override
          public void run(int number) {}

          @Override
          public void finished(int jobs) {
            completed.add(jobs);
          }
        };
    try (AutoCloseable worker = queue.work(work);
        Producers producers = Producers.start(queue, PRODUCERS)) {
      Pace.await(time);
      return completed.sum();
    }
  }
}
