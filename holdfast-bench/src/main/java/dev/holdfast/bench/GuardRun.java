package dev.holdfast.bench;

import dev.holdfast.bench.guard.Ratios;
import dev.holdfast.bench.guard.RecordedRatios;
import dev.holdfast.bench.guard.Verdict;
import dev.holdfast.bench.measure.Scale;
import dev.holdfast.bench.measure.Server;
import dev.holdfast.bench.report.JsonLines;
import java.io.Writer;
import java.util.List;

/** The quick look of {@code bench --guard}, in less than three minutes. */
record GuardRun(Server server, int concurrency) {

  private static final List<WorkloadName> WORKLOADS =
      List.of(WorkloadName.W1, WorkloadName.W2, WorkloadName.W4);
  // Each of them then has the least size that tells anything.
  private static final Scale SCALE = new Scale(0.1);
  private static final int REPEATS = 2;

  /** The exit code: 1 when something became slower. */
  int compare() throws Exception {
    Ratios recorded = RecordedRatios.read();
    Verdict verdict = Verdict.on(measure(), recorded);
    verdict.lines().forEach(System.out::println);
    if (verdict.passes()) {
      System.out.println("As fast as recorded.");
      return 0;
    }
    System.out.println("Slower than recorded: " + String.join("; ", verdict.fallen()) + ".");
    System.out.println("Measure again to be sure. If it is meant, record it: --guard --record");
    return 1;
  }

  int writeDown() throws Exception {
    RecordedRatios.requireWritable();
    Ratios measured = measure();
    RecordedRatios.write(measured);
    System.out.print(measured.toText());
    System.out.println("Recorded in " + RecordedRatios.SOURCE + ".");
    return 0;
  }

  private Ratios measure() throws Exception {
    Tournament tournament =
        new Tournament(
            server,
            SCALE,
            Contenders.withoutPeers(concurrency),
            new JsonLines(Writer.nullWriter()));
    return Ratios.of(tournament.run(WORKLOADS, concurrency, REPEATS));
  }
}
