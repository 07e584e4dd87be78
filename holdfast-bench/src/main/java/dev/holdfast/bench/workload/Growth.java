package dev.holdfast.bench.workload;

import dev.holdfast.bench.contender.Backlog;
import dev.holdfast.bench.measure.Bench;
import dev.holdfast.bench.measure.Finding;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** W6: whether a longer queue or a longer history makes the same work slower. */
public final class Growth implements Workload {

  private static final int JOBS = 50_000;
  private static final List<Integer> QUEUED = List.of(10_000, 100_000, 1_000_000);
  private static final int FINISHED = 1_000_000;

  @Override
  public List<Finding> run(Bench bench) throws Exception {
    Beside beside = new Beside(JOBS);
    List<Finding> findings = new ArrayList<>();
    findings.add(beside.run(bench, "W6 growth, nothing beside", Map.of()));
    for (int full : QUEUED) {
      int queued = bench.scale().jobs(full, 1_000);
      findings.add(beside.run(bench, row(queued, Backlog.SAME), Map.of(Backlog.SAME, queued)));
    }
    int finished = bench.scale().jobs(FINISHED, 1_000);
    findings.add(
        beside.run(bench, row(finished, Backlog.FINISHED), Map.of(Backlog.FINISHED, finished)));
    return findings;
  }

  private static String row(int jobs, Backlog backlog) {
    return String.format(Locale.ROOT, "W6 growth, %,d %s", jobs, backlog);
  }
}
