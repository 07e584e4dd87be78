package dev.holdfast.bench;

import dev.holdfast.bench.contender.Contender;
import dev.holdfast.bench.measure.Bench;
import dev.holdfast.bench.measure.Finding;
import dev.holdfast.bench.measure.Scale;
import dev.holdfast.bench.measure.Server;
import dev.holdfast.bench.report.JsonLines;
import dev.holdfast.bench.report.Results;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * Runs each workload for all contenders before the next, and starts every repeat with another one:
 * what the machine does meanwhile then strikes all alike.
 */
record Tournament(Server server, Scale scale, List<Contender> contenders, JsonLines lines) {

  // The least of everything, however large what follows: slow peers would warm up for minutes.
  private static final Scale WARM_UP = new Scale(0.1);

  Results run(List<WorkloadName> workloads, int concurrency, int repeats) throws Exception {
    Results results = new Results();
    warmUp(workloads, concurrency);
    for (WorkloadName workload : workloads) {
      List<Contender> order = new ArrayList<>(contenders);
      for (int repeat = 1; repeat <= repeats; repeat++) {
        for (Contender contender : order) {
          progress(workload.name(), repeat, contender);
          Bench bench = new Bench(server, scale, contender);
          for (Finding finding : workload.workload(concurrency).run(bench)) {
            results.add(contender, finding);
            lines.write(contender, repeat, finding);
          }
        }
        Collections.rotate(order, 1);
      }
    }
    lines.write(results);
    return results;
  }

  /** Compiles the code and fills the caches, so that the first repeat is like the others. */
  private void warmUp(List<WorkloadName> workloads, int concurrency) throws Exception {
    Set<WorkloadName> first = EnumSet.noneOf(WorkloadName.class);
    workloads.forEach(workload -> first.addAll(workload.warmedBy()));
    for (WorkloadName workload : first) {
      for (Contender contender : contenders) {
        progress("warm-up by " + workload, 0, contender);
        List<? extends Finding> unused =
            workload.workload(concurrency).run(new Bench(server, WARM_UP, contender));
      }
    }
  }

  private static void progress(String workload, int repeat, Contender contender) {
    System.err.println(workload + " #" + repeat + " " + contender.name());
  }
}
