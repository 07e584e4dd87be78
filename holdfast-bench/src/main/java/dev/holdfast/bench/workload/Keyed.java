package dev.holdfast.bench.workload;

import dev.holdfast.bench.contender.Chunks;
import dev.holdfast.bench.contender.JobQueue;
import dev.holdfast.bench.measure.Bench;
import dev.holdfast.bench.measure.Bench.Measured;
import dev.holdfast.bench.measure.Costs;
import dev.holdfast.bench.measure.Finding;
import dev.holdfast.bench.measure.NotApplicable;
import dev.holdfast.bench.measure.Sample;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.function.IntFunction;

/**
 * W5: jobs of a millisecond, of which one runs per key. In turn, when one of a key comes up those
 * before it have mostly ended; shuffled, many come up while another one runs and have to wait.
 */
public final class Keyed implements Workload {

  private static final int JOBS = 20_000;
  private static final int SITES = 1_000;
  private static final int NODES = 500;
  private static final Duration HANDLER = Duration.ofMillis(1);

  @Override
  public List<Finding> run(Bench bench) throws Exception {
    if (!bench.contender().knowsKeys()) {
      return List.of(unknown("W5 keyed"));
    }
    int jobs = bench.scale().jobs(JOBS, JOBS);
    List<Integer> shuffled = shuffled(jobs);
    return List.of(
        run(bench, "W5 keyed, one key", jobs, number -> List.of(site(number))),
        run(bench, "W5 keyed, two keys", jobs, number -> List.of(site(number), node(number))),
        run(
            bench,
            "W5 keyed, one key, shuffled",
            jobs,
            number -> List.of(site(shuffled.get(number)))));
  }

  static NotApplicable unknown(String row) {
    return new NotApplicable(row, "knows no keys of which one job may run at a time");
  }

  /** A key that a thousand jobs in a row do not share. */
  static String site(int number) {
    return "site-" + number % SITES;
  }

  /** Every node has two sites. */
  private static String node(int number) {
    return "node-" + number % NODES;
  }

  /** The same for every contender and repeat. */
  private static List<Integer> shuffled(int jobs) {
    List<Integer> numbers = new ArrayList<>();
    for (int number = 0; number < jobs; number++) {
      numbers.add(number);
    }
    Collections.shuffle(numbers, new Random(5));
    return numbers;
  }

  private static Sample run(Bench bench, String row, int jobs, IntFunction<List<String>> keysOf)
      throws Exception {
    bench.prepare(queue -> {
      Chunks.of(jobs).forEach((from, count) -> queue.enqueueAll(from, count, keysOf));
      return jobs;
    });
    Measured<Double> drained = bench.measure(queue -> drain(queue, jobs, keysOf));
    return Sample.rate(row, drained.result(), Costs.of(drained.spent(), jobs));
  }

  private static double drain(JobQueue queue, int jobs, IntFunction<List<String>> keysOf)
      throws Exception {
    CountedWork counted = new CountedWork(jobs);
    KeyedWork work = new KeyedWork(counted, keysOf, HANDLER);
    try (AutoCloseable worker = queue.work(work)) {
      counted.await();
    }
    work.checkNoneOverlapped();
    counted.checkEachRanOnce();
    if (queue.unfinished() != 0) {
      throw new IllegalStateException(queue.unfinished() + " jobs are left in the tables");
    }
    return counted.jobsPerSecond();
  }
}
