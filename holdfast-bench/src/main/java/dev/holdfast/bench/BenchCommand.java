package dev.holdfast.bench;

import dev.holdfast.bench.chart.Charts;
import dev.holdfast.bench.contender.Contender;
import dev.holdfast.bench.measure.Scale;
import dev.holdfast.bench.measure.Server;
import dev.holdfast.bench.report.JsonLines;
import dev.holdfast.bench.report.Results;
import dev.holdfast.bench.report.Table;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Reads what to measure, and prints what came out. */
@Command(
    name = "bench",
    description = "Measures Holdfast, and the raw SQL that is its limit, on a database of its own.",
    mixinStandardHelpOptions = true)
final class BenchCommand implements Callable<Integer> {

  @Parameters(
      arity = "0..*",
      paramLabel = "W",
      description = "Which workloads, of ${COMPLETION-CANDIDATES}; all when none is named.")
  private List<WorkloadName> names = List.of(WorkloadName.values());

  @Option(names = "--peers", description = "Measures db-scheduler, JobRunr and Quartz, too.")
  private boolean peers;

  @Option(
      names = "--scale",
      defaultValue = "0.1",
      description = "Share of each workload's full size. Default: ${DEFAULT-VALUE}.")
  private double scale;

  @Option(
      names = "--repeats",
      defaultValue = "3",
      description = "Times each is run; medians count. Default: ${DEFAULT-VALUE}.")
  private int repeats;

  @Option(
      names = "--concurrency",
      defaultValue = "500",
      description = "Of Holdfast's worker. Default: ${DEFAULT-VALUE}.")
  private int concurrency;

  @Option(
      names = "--json",
      paramLabel = "FILE",
      description = "Writes every sample to this file, a line each.")
  private @Nullable Path json;

  @Option(
      names = "--chart",
      paramLabel = "FILE.svg",
      description =
          "Draws the medians as bars into this file, and what was watched over time into others"
              + " beside it.")
  private @Nullable Path chart;

  @Option(
      names = "--postgres",
      paramLabel = "BIN_DIR",
      description = "Directory with initdb and pg_ctl to use instead of the embedded server.")
  private @Nullable Path binaries;

  @Option(
      names = "--url",
      paramLabel = "JDBC_URL",
      description =
          "A running database to use instead, say one that logs plans. The contenders' tables in it"
              + " are dropped!")
  private @Nullable String url;

  @ArgGroup(exclusive = false)
  private @Nullable Guarding guarding;

  private static final class Guarding {

    @Option(
        names = "--guard",
        required = true,
        description =
            "Only compares a quick W1, W2 and W4 with the recorded ratios to raw, and fails when one"
                + " has fallen.")
    boolean guard;

    @Option(names = "--record", description = "Records those ratios anew instead.")
    boolean record;
  }

  @Override
  public Integer call() throws Exception {
    try (Server server = server()) {
      if (guarding != null && guarding.guard) {
        GuardRun run = new GuardRun(server, concurrency);
        return guarding.record ? run.writeDown() : run.compare();
      }
      measure(server);
      return 0;
    }
  }

  private void measure(Server server) throws Exception {
    List<Contender> contenders =
        peers ? Contenders.withPeers(concurrency) : Contenders.withoutPeers(concurrency);
    printHead(server, contenders);
    try (Writer lines = json == null ? Writer.nullWriter() : Files.newBufferedWriter(json)) {
      Tournament tournament =
          new Tournament(server, new Scale(scale), contenders, new JsonLines(lines));
      Results results = tournament.run(names, concurrency, repeats);
      System.out.println();
      System.out.print(Table.of(results));
      if (chart != null) {
        Charts.write(results, chart);
      }
    }
  }

  private void printHead(Server server, List<Contender> contenders) {
    System.out.printf(
        Locale.ROOT,
        "PostgreSQL %s %s%nJava %s, %d processors, scale %s, %d repeats%n",
        server.version(),
        server.settings(),
        System.getProperty("java.version"),
        Runtime.getRuntime().availableProcessors(),
        scale,
        repeats);
    contenders.forEach(
        contender -> System.out.println(contender.name() + ": " + contender.settings()));
  }

  private Server server() {
    return url == null ? Server.start(Optional.ofNullable(binaries)) : Server.at(url);
  }
}
