package dev.holdfast.bench.workload;

import dev.holdfast.bench.contender.Work;
import dev.holdfast.bench.measure.Durations;
import dev.holdfast.bench.measure.OverTime;
import dev.holdfast.bench.measure.OverTime.Mark;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Jobs that do nothing; how long their claims took, by phase and by step. Thread-safe. */
final class ClaimTimes implements Work {

  private static final Duration STEP = Duration.ofSeconds(5);

  private volatile Durations phase = new Durations();
  private volatile long beganNanos = System.nanoTime();
  private final List<Durations> steps = new CopyOnWriteArrayList<>();

  @Override
  public void run(int number) {}

  @Override
  public synchronized void claimed(int jobs, Duration took) {
    phase.add(took.toNanos());
    step().add(took.toNanos());
  }

  /** Forgets all steps before. */
  synchronized void beginCurve() {
    steps.clear();
    beganNanos = System.nanoTime();
  }

  /** What was claimed within this time from now. */
  Durations during(Duration time) {
    Durations measured = new Durations();
    phase = measured;
    Pace.await(time);
    phase = new Durations();
    return measured;
  }

  Mark mark(String what) {
    return new Mark(what, (System.nanoTime() - beganNanos) / 1e9);
  }

  OverTime p99OverTime(List<Mark> marks) {
    List<Double> values = steps.stream().map(step -> step.millisAt(0.99)).toList();
    return new OverTime("p99 of claims", "ms", STEP.toSeconds(), values, marks);
  }

  private Durations step() {
    long current = (System.nanoTime() - beganNanos) / STEP.toNanos();
    while (steps.size() <= current) {
      steps.add(new Durations());
    }
    return steps.getLast();
  }
}
