package dev.holdfast.bench.chart;

import dev.holdfast.bench.chart.Svg.Anchor;
import dev.holdfast.bench.contender.Contender;
import dev.holdfast.bench.report.Figures;
import dev.holdfast.bench.report.Results;
import dev.holdfast.bench.report.Row;
import dev.holdfast.bench.report.Series;
import java.util.Locale;

/** Every row of the table as a group of bars, one per contender, each group to its own scale. */
final class BarChart {

  private static final int WIDTH = 860;
  private static final int MARGIN = 16;
  private static final int NAMES = 110;
  private static final int BARS = 560;
  private static final int TITLE_HEIGHT = 24;
  private static final int BAR_HEIGHT = 18;
  private static final int GAP = 14;

  private final Svg svg = new Svg(WIDTH);
  private double y = MARGIN;

  private BarChart() {}

  static String of(Results results) {
    BarChart chart = new BarChart();
    results.rows().forEach(chart::draw);
    return chart.svg.close((int) chart.y);
  }

  private void draw(Row row) {
    Series any = row.series().values().iterator().next();
    String better = any.moreIsBetter() ? "more is better" : "less is better";
    svg.write(
        Anchor.LEFT,
        "title",
        MARGIN,
        y + 14,
        "%s (%s, %s)".formatted(row.name(), any.unit(), better));
    y += TITLE_HEIGHT;
    double most = row.series().values().stream().mapToDouble(Series::median).max().orElse(0);
    row.series().forEach((contender, series) -> draw(contender, series.median(), most));
    y += GAP;
  }

  private void draw(Contender contender, double value, double most) {
    double barX = MARGIN + NAMES;
    // Even the smallest is to be seen.
    double length = most > 0 ? Math.max(1, BARS * value / most) : 1;
    double baseline = y + BAR_HEIGHT - 5;
    svg.write(Anchor.RIGHT, "name", barX - 8, baseline, contender.name());
    svg.bar(style(contender), barX, y + 1, length, BAR_HEIGHT - 3);
    svg.write(Anchor.LEFT, "figure", barX + length + 6, baseline, Figures.of(value));
    y += BAR_HEIGHT;
  }

  private static String style(Contender contender) {
    return contender.role().name().toLowerCase(Locale.ROOT);
  }
}
