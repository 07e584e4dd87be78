package dev.holdfast.bench.workload;

import dev.holdfast.bench.contender.Backlog;
import dev.holdfast.bench.measure.Bench;
import dev.holdfast.bench.measure.Sample;
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
  public List<Sample> run(Bench bench) throws Exception {
    Beside beside = new Beside(JOBS);
    List<Sample> samples = new ArrayList<>();
    beside.run(bench, "W6 growth, nothing beside", Map.of()).ifPresent(samples::add);
    for (int full : QUEUED) {
      int queued = bench.scale().jobs(full, 1_000);
      beside
          .run(bench, row(queued, Backlog.SAME), Map.of(Backlog.SAME, queued))
          .ifPresent(samples::add);
    }
    int finished = bench.scale().jobs(FINISHED, 1_000);
    beside
        .run(bench, row(finished, Backlog.FINISHED), Map.of(Backlog.FINISHED, finished))
        .ifPresent(samples::add);
    return samples;
  }

  private static String row(int jobs, Backlog backlog) {
    return String.format(Locale.ROOT, "W6 growth, %,d %s", jobs, backlog);
  }
}
