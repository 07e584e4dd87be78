package dev.holdfast.bench.workload;

import dev.holdfast.bench.contender.JobQueue;
import dev.holdfast.bench.measure.Bench;
import dev.holdfast.bench.measure.Durations;
import dev.holdfast.bench.measure.Finding;
import dev.holdfast.bench.measure.NotApplicable;
import dev.holdfast.bench.measure.OverTime;
import dev.holdfast.bench.measure.OverTime.Mark;
import dev.holdfast.bench.measure.Sample;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * W9: a steady 500 jobs a second before, while and after some other session holds a snapshot, which
 * keeps vacuum from removing the rows of finished jobs. What counts is how long claims take.
 */
public final class HeldSnapshot implements Workload {

  private static final int PRODUCERS = 2;
  private static final Duration PERIOD = Duration.ofMillis(4);
  private static final Duration HELD = Duration.ofSeconds(60);
  private static final Duration LEAST = Duration.ofSeconds(6);
  // Long enough to tell what is normal, and whether that is so again within a minute.
  private static final Duration MOST_AROUND = Duration.ofSeconds(90);
  private static final Duration WINDOW = Duration.ofSeconds(1);
  // Claims are back to normal once their p99 within a window is no more than this times before.
  private static final double RECOVERED = 1.5;

  @Override
  public List<? extends Finding> run(Bench bench) throws Exception {
    if (!bench.contender().tellsClaims()) {
      return List.of(
          new NotApplicable(
              "W9 claim while a snapshot is held", "does not tell its claims' times"));
    }
    bench.prepare(queue -> HELD);
    return bench.measure(queue -> phases(bench, queue)).result();
  }

  private static List<Sample> phases(Bench bench, JobQueue queue) throws Exception {
    ClaimTimes claims = new ClaimTimes();
    Duration held = bench.scale().time(HELD, LEAST);
    Duration around =
        Collections.max(List.of(LEAST, Collections.min(List.of(MOST_AROUND, held.dividedBy(2)))));
    Durations before;
    Durations during;
    List<Durations> after = new ArrayList<>();
    List<Mark> marks = new ArrayList<>();
    try (AutoCloseable worker = queue.work(claims);
        Producers producers = Producers.startPaced(queue, PRODUCERS, PERIOD)) {
      Pace.await(LEAST); // warm first
      claims.beginCurve();
      before = claims.during(around);
      try (Connection other = DriverManager.getConnection(bench.server().jdbcUrl())) {
        hold(other);
        marks.add(claims.mark("snapshot held"));
        during = claims.during(held);
      }
      marks.add(claims.mark("released"));
      for (long windows = around.dividedBy(WINDOW); windows > 0; windows--) {
        after.add(claims.during(WINDOW));
      }
    }
    return samples(before, during, after, claims.p99OverTime(marks));
  }

  private static void hold(Connection other) throws Exception {
    other.setAutoCommit(false);
    other.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
    try (Statement statement = other.createStatement()) {
      statement.execute("SELECT 1 FROM pg_class LIMIT 1");
    }
  }

  private static List<Sample> samples(
      Durations before, Durations during, List<Durations> after, OverTime p99) {
    double normal = before.millisAt(0.99);
    long windowsUntilNormal =
        after.stream().takeWhile(window -> window.millisAt(0.99) > RECOVERED * normal).count();
    return List.of(
        Sample.of("W9 claim p50, before a snapshot is held", "ms", before.millisAt(0.5)),
        Sample.of("W9 claim p99, before", "ms", normal),
        Sample.of("W9 claim p50, while it is held", "ms", during.millisAt(0.5)),
        Sample.of("W9 claim p99, while", "ms", during.millisAt(0.99)).withOverTime(p99),
        Sample.of("W9 claim p99, while / before", "×", during.millisAt(0.99) / normal),
        Sample.of("W9 until p99 is back", "s", (double) windowsUntilNormal * WINDOW.toSeconds()));
  }
}
