package dev.holdfast.bench.workload;

import dev.holdfast.bench.contender.JobQueue;
import dev.holdfast.bench.measure.Bench;
import dev.holdfast.bench.measure.Reading;
import dev.holdfast.bench.measure.Sample;
import java.time.Duration;
import java.util.List;

/** W7: what a worker costs that has nothing to do. */
public final class Idle implements Workload {

  private static final Duration TIME = Duration.ofSeconds(60);
  private static final Duration LEAST_TIME = Duration.ofSeconds(20);
  private static final Duration SETTLE = Duration.ofSeconds(3);

  @Override
  public List<Sample> run(Bench bench) throws Exception {
    bench.prepare(queue -> TIME);
    Reading spent = bench.measure(queue -> idle(bench, queue)).result();
    return List.of(
        Sample.of(
            "W7 idle, client CPU", "% of a core", percent(spent.clientCpuNanos(), spent.nanos())),
        Sample.of(
            "W7 idle, database CPU",
            "% of a core",
            percent(spent.databaseCpuNanos(), spent.nanos())),
        Sample.of("W7 idle, transactions", "tx/s", spent.transactions() / spent.seconds()));
  }

  /** Reads the meters itself, so that neither start nor stop of the worker is in it. */
  private static Reading idle(Bench bench, JobQueue queue) throws Exception {
    try (AutoCloseable worker = queue.work(number -> {})) {
      Pace.await(SETTLE);
      Reading before = Reading.take(bench.server());
      Pace.await(bench.scale().time(TIME, LEAST_TIME));
      return Reading.take(bench.server()).minus(before);
    }
  }

  private static double percent(long part, long whole) {
    return 100.0 * part / whole;
  }
}
