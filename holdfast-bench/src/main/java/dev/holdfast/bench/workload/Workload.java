package dev.holdfast.bench.workload;

import dev.holdfast.bench.measure.Bench;
import dev.holdfast.bench.measure.Finding;
import java.util.List;

/** Something a job queue has to do, and the figures that say how well it did. */
@FunctionalInterface
public interface Workload {

  /** Runs once for one contender. */
  List<? extends Finding> run(Bench bench) throws Exception;
}
