package dev.holdfast.bench;

import dev.holdfast.bench.Results.Series;
import dev.holdfast.bench.measure.Costs;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Results as a Markdown table, so that a run can be pasted into docs/performance.md. */
final class Table {

  private static final String BASE = "raw";

  private Table() {}

  static String of(Results results) {
    StringBuilder text =
        new StringBuilder(
            """
            | workload | contender | median | spread | of raw | CPU µs/job, client + db | WAL B/job | tx/job | peak heap MB |
            |---|---|---|---|---|---|---|---|---|
            """);
    results
        .byRow()
        .forEach((row, series) ->
            series.forEach(
                (contender, figures) -> text.append(line(row, contender, figures, series))));
    return text.toString();
  }

  private static String line(
      String row, String contender, Series figures, Map<String, Series> all) {
    String ratio = contender.equals(BASE) ? "" : ratio(figures, all.get(BASE));
    String spread = number(figures.least()) + "–" + number(figures.most());
    String median = number(figures.median()) + " " + figures.unit();
    List<String> cells = List.of(row, contender, median, spread, ratio);
    return "| " + String.join(" | ", cells) + " | " + costs(figures) + " |\n";
  }

  private static String ratio(Series figures, @Nullable Series base) {
    return base == null || base.median() == 0 ? "" : number(figures.median() / base.median());
  }

  private static String costs(Series figures) {
    return figures.costs().map(Table::cells).orElse(" | | | ");
  }

  private static String cells(Costs costs) {
    return String.join(
        " | ",
        number(costs.clientCpuMicros()) + " + " + number(costs.databaseCpuMicros()),
        number(costs.walBytes()),
        number(costs.transactions()),
        number(costs.peakHeapMegabytes()));
  }

  /** Three digits are more than these machines repeat. */
  private static String number(double value) {
    double size = Math.abs(value);
    String format = size >= 100 ? "%,.0f" : size >= 10 ? "%.1f" : size >= 0.1 ? "%.2f" : "%.4f";
    return String.format(Locale.ROOT, format, value);
  }
}
