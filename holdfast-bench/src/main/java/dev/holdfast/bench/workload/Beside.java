package dev.holdfast.bench.workload;

import dev.holdfast.bench.contender.Backlog;
import dev.holdfast.bench.contender.Chunks;
import dev.holdfast.bench.contender.JobQueue;
import dev.holdfast.bench.measure.Bench;
import dev.holdfast.bench.measure.Bench.Measured;
import dev.holdfast.bench.measure.Costs;
import dev.holdfast.bench.measure.Sample;
import java.util.Map;
import java.util.Optional;

/**
 * How fast some jobs are worked off while many others lie beside them.
 *
 * @param jobs those worked off
 */
record Beside(int jobs) {

  /** Empty when the contender has no such jobs. */
  Optional<Sample> run(Bench bench, String row, Map<Backlog, Integer> others) throws Exception {
    if (!others.keySet().stream().allMatch(bench.contender()::canFill)) {
      return Optional.empty();
    }
    bench.prepare(queue -> {
      Chunks.of(jobs).forEach(queue::enqueueAll);
      others.forEach(queue::fill);
      return jobs;
    });
    Measured<Double> worked = bench.measure(this::work);
    return Optional.of(Sample.of(row, "jobs/s", worked.result(), Costs.of(worked.spent(), jobs)));
  }

  /** The others may have been begun, too, when the last of these is done. */
  private double work(JobQueue queue) throws Exception {
    CountedWork work = new CountedWork(jobs);
    try (AutoCloseable worker = queue.work(work)) {
      work.await();
    }
    work.checkEachRanOnce();
    return work.jobsPerSecond();
  }
}
