package dev.holdfast.bench.workload;

import dev.holdfast.bench.contender.Chunks;
import dev.holdfast.bench.contender.JobQueue;
import dev.holdfast.bench.contender.Work;
import dev.holdfast.bench.measure.Bench;
import dev.holdfast.bench.measure.Bench.Measured;
import dev.holdfast.bench.measure.Costs;
import dev.holdfast.bench.measure.Finding;
import dev.holdfast.bench.measure.Sample;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.IntFunction;

/**
 * W8: whether jobs that wait for two keys, each held by one long job, are in the way of others,
 * which need no key or a free one. The two long jobs run beside both measurements; the parking is
 * over before either begins.
 */
public final class Blocked implements Workload {

  private static final int BLOCKED = 100_000;
  private static final int LEAST_BLOCKED = 10_000;
  private static final List<String> HELD = List.of("held-0", "held-1");
  private static final Duration LOOK_AGAIN = Duration.ofMillis(20);
  private static final Duration MOST = Duration.ofMinutes(10);

  @Override
  public List<Finding> run(Bench bench) throws Exception {
    if (!bench.contender().knowsKeys()) {
      return List.of(Keyed.unknown("W8 blocked"));
    }
    List<Finding> findings = new ArrayList<>();
    findings.addAll(compare(bench, "free jobs", number -> List.of()));
    findings.addAll(compare(bench, "free jobs with a key", number -> List.of(Keyed.site(number))));
    return findings;
  }

  private static List<Sample> compare(Bench bench, String what, IntFunction<List<String>> keysOf)
      throws Exception {
    int blocked = bench.scale().jobs(BLOCKED, LEAST_BLOCKED);
    Result without = measure(bench, 0, keysOf);
    Result with = measure(bench, blocked, keysOf);
    String beside = String.format(Locale.ROOT, "%,d", blocked);
    return List.of(
        without.sample("W8 blocked, " + what + ", none parked"),
        with.sample("W8 blocked, " + what + " beside " + beside + " parked"),
        Sample.of("W8 blocked, " + what + ", beside / none", "×", with.rate() / without.rate()),
        Sample.of("W8 blocked, parking of " + beside, "s", with.parking.toMillis() / 1e3));
  }

  private record Result(WorkedOff worked, Costs costs, Duration parking) {

    double rate() {
      return worked.jobsPerSecond();
    }

    Sample sample(String row) {
      return Sample.rate(row, rate(), costs).withOverTime(worked.rates());
    }
  }

  private static Result measure(Bench bench, int blocked, IntFunction<List<String>> keysOf)
      throws Exception {
    int jobs = Drain.jobs(bench);
    bench.prepare(queue -> {
      new Chunks(JobQueue.FIRST_FILLING, blocked)
          .forEach((from, count) -> queue.enqueueAll(from, count, Blocked::heldKey));
      return blocked;
    });
    try (JobQueue queue = bench.contender().open(bench.server());
        AutoCloseable holding = queue.hold(HELD)) {
      Duration parking = park(queue, blocked);
      Chunks.of(jobs).forEach((from, count) -> queue.enqueueAll(from, count, keysOf));
      bench.server().execute("VACUUM ANALYZE");
      Measured<WorkedOff> drained = bench.measure(own -> WorkedOff.by(own, jobs));
      long left = queue.unfinished();
      if (queue.parked() != blocked || left != blocked + HELD.size()) {
        throw new IllegalStateException(
            queue.parked() + " jobs are parked and " + left + " left, of " + blocked + " blocked");
      }
      return new Result(drained.result(), Costs.of(drained.spent(), jobs), parking);
    }
  }

  private static List<String> heldKey(int number) {
    return List.of(HELD.get(number % HELD.size()));
  }

  /** By a worker that finds nothing else to do, and is gone afterwards. */
  private static Duration park(JobQueue queue, int blocked) throws Exception {
    Work none =
        number -> {
          throw new IllegalStateException("job " + number + " runs though its key is held");
        };
    long beganNanos = System.nanoTime();
    try (AutoCloseable worker = queue.work(none)) {
      while (queue.parked() < blocked) {
        if (System.nanoTime() - beganNanos > MOST.toNanos()) {
          throw new IllegalStateException(queue.parked() + " of " + blocked + " jobs are parked");
        }
        Pace.await(LOOK_AGAIN);
      }
      return Duration.ofNanos(System.nanoTime() - beganNanos);
    }
  }
}
