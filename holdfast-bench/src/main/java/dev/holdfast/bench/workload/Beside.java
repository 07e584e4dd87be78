package dev.holdfast.bench.workload;

import dev.holdfast.bench.contender.Backlog;
import dev.holdfast.bench.contender.Chunks;
import dev.holdfast.bench.contender.Contender;
import dev.holdfast.bench.measure.Bench;
import dev.holdfast.bench.measure.Bench.Measured;
import dev.holdfast.bench.measure.Costs;
import dev.holdfast.bench.measure.Finding;
import dev.holdfast.bench.measure.NotApplicable;
import dev.holdfast.bench.measure.Sample;
import java.util.Map;
import java.util.Optional;

/**
 * How fast some jobs are worked off while many others lie beside them.
 *
 * @param jobs those worked off
 */
record Beside(int jobs) {

  Finding run(Bench bench, String row, Map<Backlog, Integer> others) throws Exception {
    Optional<String> obstacle = obstacle(bench.contender(), others);
    if (obstacle.isPresent()) {
      return new NotApplicable(row, obstacle.get());
    }
    bench.prepare(queue -> {
      Chunks.of(jobs).forEach(queue::enqueueAll);
      others.forEach(queue::fill);
      return jobs;
    });
    // The others may have been begun, too, when the last of these is done.
    Measured<WorkedOff> worked = bench.measure(queue -> WorkedOff.by(queue, jobs));
    WorkedOff result = worked.result();
    return Sample.rate(row, result.jobsPerSecond(), Costs.of(worked.spent(), jobs))
        .withOverTime(result.rates());
  }

  private Optional<String> obstacle(Contender contender, Map<Backlog, Integer> others) {
    if (jobs > contender.mostJobs()) {
      return Optional.of("too slow for as many jobs as would tell anything");
    }
    return others.keySet().stream()
        .filter(backlog -> !contender.canFill(backlog))
        .findFirst()
        .map(backlog -> "has no jobs " + backlog);
  }
}
