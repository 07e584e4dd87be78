package dev.holdfast.bench;

import dev.holdfast.bench.contender.Contender;
import dev.holdfast.bench.measure.Bench;
import dev.holdfast.bench.measure.Sample;
import dev.holdfast.bench.measure.Scale;
import dev.holdfast.bench.measure.Server;
import dev.holdfast.bench.workload.Workload;
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

  Results run(List<WorkloadName> workloads, int concurrency, int repeats) throws Exception {
    Results results = new Results();
    warmUp(workloads, concurrency);
    for (WorkloadName workload : workloads) {
      List<Contender> order = new ArrayList<>(contenders);
      for (int repeat = 1; repeat <= repeats; repeat++) {
        for (Contender contender : order) {
          progress(workload.name(), repeat, contender);
          for (Sample sample : run(workload.workload(concurrency), contender)) {
            results.add(contender.name(), sample);
            lines.write(contender.name(), repeat, sample);
          }
        }
        Collections.rotate(order, 1);
      }
    }
    return results;
  }

  /** Compiles the code and fills the caches, so that the first repeat is like the others. */
  private void warmUp(List<WorkloadName> workloads, int concurrency) throws Exception {
    Set<WorkloadName> first = EnumSet.noneOf(WorkloadName.class);
    workloads.forEach(workload -> first.addAll(workload.warmedBy()));
    for (WorkloadName workload : first) {
      for (Contender contender : contenders) {
        progress("warm-up by " + workload, 0, contender);
        List<Sample> unused = run(workload.workload(concurrency), contender);
      }
    }
  }

  private List<Sample> run(Workload workload, Contender contender) throws Exception {
    return workload.run(new Bench(server, scale, contender));
  }

  private static void progress(String workload, int repeat, Contender contender) {
    System.err.println(workload + " #" + repeat + " " + contender.name());
  }
}
