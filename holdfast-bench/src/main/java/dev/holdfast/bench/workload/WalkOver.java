package dev.holdfast.bench.workload;

import dev.holdfast.bench.contender.Backlog;
import dev.holdfast.bench.measure.Bench;
import dev.holdfast.bench.measure.Sample;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** W12: whether claims have to walk over jobs that this worker cannot have. */
public final class WalkOver implements Workload {

  private static final int JOBS = 50_000;
  private static final int OTHERS = 1_000_000;

  @Override
  public List<Sample> run(Bench bench) throws Exception {
    Beside beside = new Beside(JOBS);
    int others = bench.scale().jobs(OTHERS, 10_000);
    List<Sample> samples = new ArrayList<>();
    beside.run(bench, "W12 walk-over, alone", Map.of()).ifPresent(samples::add);
    String row = String.format(Locale.ROOT, "W12 walk-over, beside 4 × %,d others", others);
    beside
        .run(
            bench,
            row,
            Map.of(
                Backlog.OTHER_QUEUE, others,
                Backlog.UNSERVED_KIND, others,
                Backlog.ABSENT_HOST, others,
                Backlog.FAR_FUTURE, others))
        .ifPresent(samples::add);
    return samples;
  }
}
