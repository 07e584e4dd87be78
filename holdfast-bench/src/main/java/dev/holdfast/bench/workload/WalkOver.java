package dev.holdfast.bench.workload;

import dev.holdfast.bench.contender.Backlog;
import dev.holdfast.bench.measure.Bench;
import dev.holdfast.bench.measure.Finding;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** W12: whether claims have to walk over jobs that this worker cannot have. */
public final class WalkOver implements Workload {

  private static final int JOBS = 50_000;
  private static final int OTHERS = 1_000_000;
  private static final List<Backlog> SORTS =
      List.of(Backlog.OTHER_QUEUE, Backlog.UNSERVED_KIND, Backlog.ABSENT_HOST, Backlog.FAR_FUTURE);

  @Override
  public List<Finding> run(Bench bench) throws Exception {
    Beside beside = new Beside(JOBS);
    int count = bench.scale().jobs(OTHERS, 10_000);
    Map<Backlog, Integer> others = new EnumMap<>(Backlog.class);
    SORTS.forEach(sort -> others.put(sort, count));
    String row = String.format(Locale.ROOT, "W12 walk-over, beside 4 × %,d others", count);
    return List.of(
        beside.run(bench, "W12 walk-over, alone", Map.of()), beside.run(bench, row, others));
  }
}
