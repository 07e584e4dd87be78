package dev.holdfast.bench;

import dev.holdfast.bench.contender.JobQueue;
import dev.holdfast.bench.measure.Server;
import dev.holdfast.bench.workload.Drain;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The process that ForkedDrain starts: drains a full queue and says how fast, and how large. */
@Command(name = "drain-once", hidden = true)
final class DrainOnceCommand implements Callable<Integer> {

  private static final Path STATUS = Path.of("/proc/self/status");

  @Option(names = "--url", required = true)
  private String url = "";

  @Option(names = "--contender", required = true)
  private String contender = "";

  @Option(names = "--concurrency", required = true)
  private int concurrency;

  @Option(names = "--jobs", required = true)
  private int jobs;

  @Override
  public Integer call() throws Exception {
    try (Server server = Server.at(url);
        JobQueue queue = Contenders.named(contender, concurrency).open(server)) {
      double jobsPerSecond = Drain.drain(queue, jobs);
      System.out.printf(Locale.ROOT, "%.1f %.1f%n", jobsPerSecond, peakResidentMegabytes());
    }
    return 0;
  }

  /** NaN where there is no /proc. */
  private static double peakResidentMegabytes() throws IOException {
    if (!Files.exists(STATUS)) {
      return Double.NaN;
    }
    return Files.readAllLines(STATUS).stream()
        .filter(line -> line.startsWith("VmHWM:"))
        .mapToDouble(line -> Double.parseDouble(line.replaceAll("\\D", "")) * 1_024 / 1e6)
        .findFirst()
        .orElse(Double.NaN);
  }
}
