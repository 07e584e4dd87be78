package dev.holdfast.bench.workload;

import dev.holdfast.bench.measure.Bench;
import dev.holdfast.bench.measure.Sample;
import java.util.List;

/** Something a job queue has to do, and the figures that say how well it did. */
@FunctionalInterface
public interface Workload {

  /** Runs once for one contender; empty when that cannot do it. */
  List<Sample> run(Bench bench) throws Exception;
}
