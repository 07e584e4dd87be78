package dev.holdfast.bench.workload;

import dev.holdfast.bench.measure.OverTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;

/** Looks on, from a thread of its own, how many jobs are finished in each step of a run. */
final class Curve implements AutoCloseable {

  // A drain of fifty thousand jobs lasts a second or two: by the second there were no curve.
  private static final Duration STEP = Duration.ofMillis(100);

  private final LongSupplier finished;
  private final List<Double> rates = new ArrayList<>();
  private final Thread thread;
  private volatile boolean closed;

  private Curve(LongSupplier finished) {
    this.finished = finished;
    this.thread = Thread.ofPlatform().name("curve").unstarted(this::watch);
  }

  static Curve of(LongSupplier finished) {
    Curve curve = new Curve(finished);
    curve.thread.start();
    return curve;
  }

  @Override
  public void close() throws InterruptedException {
    closed = true;
    thread.join();
  }

  /** Once closed. The steps in which the first and the last job ended were not full ones. */
  OverTime overTime() {
    List<Double> values = rates.stream().dropWhile(rate -> rate == 0).skip(1).toList();
    List<Double> full = values.subList(0, Math.max(0, values.size() - 1));
    return new OverTime("finished jobs", "jobs/s", seconds(), full, List.of());
  }

  private void watch() {
    Pace pace = new Pace(STEP);
    long before = finished.getAsLong();
    while (!closed) {
      pace.awaitNext();
      long now = finished.getAsLong();
      rates.add((now - before) / seconds());
      before = now;
    }
  }

  private static double seconds() {
    return STEP.toMillis() / 1e3;
  }
}
