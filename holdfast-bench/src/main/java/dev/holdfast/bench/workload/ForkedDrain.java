package dev.holdfast.bench.workload;

import dev.holdfast.bench.measure.Bench;
import dev.holdfast.bench.measure.Sample;
import java.util.List;

/**
 * W1 once more, by a process that does nothing else: how much memory a worker needs, and how fast
 * one is that has just started.
 *
 * @param concurrency of Holdfast's worker
 */
public record ForkedDrain(int concurrency) implements Workload {

  private static final List<String> SMALL = List.of("-Xmx128m", "-XX:+UseSerialGC");

  @Override
  public List<Sample> run(Bench bench) throws Exception {
    int jobs = Drain.jobs(bench);
    Drain.load(bench, jobs);
    List<String> answer = List.of(fork(bench, jobs).strip().split(" ", 2));
    return List.of(
        Sample.rate("W1 drain, own cold JVM, -Xmx128m", Double.parseDouble(answer.getFirst()))
            .withJobs(jobs),
        Sample.of("W1 drain, own JVM, peak RSS", "MB", Double.parseDouble(answer.getLast())));
  }

  private String fork(Bench bench, int jobs) throws Exception {
    try (Fork fork =
        Fork.start(
            SMALL,
            List.of(
                "drain-once",
                "--url=" + bench.server().jdbcUrl(),
                "--contender=" + bench.contender().name(),
                "--concurrency=" + concurrency,
                "--jobs=" + jobs))) {
      return fork.answer();
    }
  }
}
