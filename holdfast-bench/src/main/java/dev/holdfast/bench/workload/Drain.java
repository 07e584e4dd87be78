package dev.holdfast.bench.workload;

import dev.holdfast.bench.contender.Chunks;
import dev.holdfast.bench.contender.JobQueue;
import dev.holdfast.bench.measure.Bench;
import dev.holdfast.bench.measure.Bench.Measured;
import dev.holdfast.bench.measure.Costs;
import dev.holdfast.bench.measure.Sample;
import java.util.List;

/** W1: one worker against a full queue. */
public final class Drain implements Workload {

  private static final int JOBS = 100_000;
  private static final int LEAST_JOBS = 50_000;

  @Override
  public List<Sample> run(Bench bench) throws Exception {
    int jobs = jobs(bench);
    load(bench, jobs);
    Measured<Double> drained = bench.measure(queue -> drain(queue, jobs));
    return List.of(
        Sample.rate("W1 drain", drained.result(), Costs.of(drained.spent(), jobs)).withJobs(jobs));
  }

  static int jobs(Bench bench) {
    return bench.jobs(JOBS, LEAST_JOBS);
  }

  static void load(Bench bench, int jobs) throws Exception {
    bench.prepare(queue -> {
      Chunks.of(jobs).forEach(queue::enqueueAll);
      return jobs;
    });
  }

  /** Jobs a second, once it is certain that every job ran once and none is left. */
  public static double drain(JobQueue queue, int jobs) throws Exception {
    WorkedOff worked = WorkedOff.by(queue, jobs);
    if (queue.unfinished() != 0) {
      throw new IllegalStateException(queue.unfinished() + " jobs are left in the tables");
    }
    return worked.jobsPerSecond();
  }
}
