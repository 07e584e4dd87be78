package dev.holdfast.bench.report;

import dev.holdfast.bench.contender.Contender;
import dev.holdfast.bench.measure.Costs;
import java.util.OptionalDouble;

/** Results as a Markdown table, so that a run can be pasted into docs/performance.md. */
public final class Table {

  private Table() {}

  public static String of(Results results) {
    StringBuilder text =
        new StringBuilder(
            """
            | workload | contender | median (least–most) | of raw | of best peer | CPU µs/job, client + db | WAL B/job | tx/job | dead rows | peak heap MB |
            |---|---|---|---|---|---|---|---|---|---|
            """);
    for (Row row : results.rows()) {
      row.series().forEach((contender, figures) -> text.append(line(row, contender, figures)));
    }
    results
        .absent()
        .forEach((missing, contenders) ->
            text.append(
                "\n%s is not applicable to %s: %s."
                    .formatted(missing.row(), String.join(", ", contenders), missing.reason())));
    return text.append('\n').toString();
  }

  private static String line(Row row, Contender contender, Series figures) {
    return "| %s | %s | %s | %s | %s | %s |\n"
        .formatted(
            row.name(),
            contender.name() + size(row, figures),
            value(figures),
            ratio(row.ofRaw(contender)),
            ratio(row.ofBestPeer(contender)),
            figures.costs().map(Table::cells).orElse(" | | | | "));
  }

  /** Said where it is not the same for all. */
  private static String size(Row row, Series figures) {
    return row.hasDifferentSizes()
        ? figures.jobs().map(jobs -> ", " + Figures.of(jobs) + " jobs").orElse("")
        : "";
  }

  private static String value(Series figures) {
    String median = Figures.of(figures.median()) + " " + figures.unit();
    return figures.samples().size() == 1
        ? median
        : "%s (%s–%s)".formatted(median, Figures.of(figures.least()), Figures.of(figures.most()));
  }

  private static String ratio(OptionalDouble ratio) {
    return ratio.isPresent() ? Figures.of(ratio.getAsDouble()) : "";
  }

  private static String cells(Costs costs) {
    return String.join(
        " | ",
        Figures.of(costs.clientCpuMicros()) + " + " + Figures.of(costs.databaseCpuMicros()),
        Figures.of(costs.walBytes()),
        Figures.of(costs.transactions()),
        Figures.of(costs.deadRows()),
        Figures.of(costs.peakHeapMegabytes()));
  }
}
