package dev.holdfast.bench.chart;

import dev.holdfast.bench.chart.Svg.Anchor;
import dev.holdfast.bench.chart.Svg.Point;
import dev.holdfast.bench.measure.OverTime;
import dev.holdfast.bench.measure.OverTime.Mark;
import dev.holdfast.bench.report.Figures;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** Curves over time: a panel per contender, all to the same scale, and in it a curve per row. */
final class LinePlot {

  private static final int WIDTH = 860;
  private static final int LEFT = 70;
  private static final int PLOT_WIDTH = 760;
  private static final int PLOT_HEIGHT = 180;
  private static final int LEGEND_LINE = 16;
  private static final int TICKS = 4;

  private final Svg svg = new Svg(WIDTH);
  private final Axis values;
  private final Axis seconds;
  private double top = 16;

  private LinePlot(List<OverTime> all) {
    this.values = Axis.upTo(all.stream().mapToDouble(LinePlot::highest).max().orElse(0), TICKS);
    this.seconds = Axis.upTo(all.stream().mapToDouble(LinePlot::length).max().orElse(0), TICKS);
  }

  /** By contender, and then by row. */
  static String of(Map<String, Map<String, OverTime>> panels) {
    LinePlot plot =
        new LinePlot(panels.values().stream().flatMap(curves -> curves.values().stream()).toList());
    panels.forEach(plot::draw);
    return plot.svg.close((int) plot.top);
  }

  private void draw(String contender, Map<String, OverTime> curves) {
    OverTime any = curves.values().iterator().next();
    svg.write(
        Anchor.LEFT,
        "title",
        LEFT,
        top + 4,
        "%s: %s, %s".formatted(contender, any.what(), any.unit()));
    top += 16;
    drawAxes();
    any.marks().forEach(this::draw);
    int number = 0;
    for (OverTime curve : curves.values()) {
      svg.curve(colour(number++), points(curve));
    }
    top += PLOT_HEIGHT + 34;
    if (curves.size() > 1) {
      drawLegend(curves.keySet());
    }
    top += 16;
  }

  private void drawLegend(Set<String> rows) {
    int number = 0;
    for (String row : rows) {
      svg.curve(
          colour(number++), List.of(new Point(LEFT, top - 4), new Point(LEFT + 24.0, top - 4)));
      svg.write(Anchor.LEFT, "small", LEFT + 30.0, top, row);
      top += LEGEND_LINE;
    }
  }

  private static String colour(int number) {
    return "c" + number % Svg.COLOURS;
  }

  private void drawAxes() {
    svg.line("axis", LEFT, top, LEFT, y(0));
    svg.line("axis", LEFT, y(0), x(seconds.end()), y(0));
    for (double tick : values.ticks()) {
      svg.write(Anchor.RIGHT, "small", LEFT - 6.0, y(tick) + 4, label(tick));
    }
    for (double tick : seconds.ticks()) {
      svg.write(Anchor.MIDDLE, "small", x(tick), y(0) + 14, label(tick) + " s");
    }
  }

  private void draw(Mark mark) {
    double x = x(mark.atSeconds());
    svg.line("mark", x, top, x, y(0));
    svg.write(Anchor.LEFT, "small", x + 4, top + 8, mark.what());
  }

  /** Each value stands in the middle of the time it covers; steps without any are left out. */
  private List<Point> points(OverTime curve) {
    List<Point> points = new ArrayList<>();
    for (int step = 0; step < curve.values().size(); step++) {
      double value = curve.values().get(step);
      if (!Double.isNaN(value)) {
        points.add(new Point(x((step + 0.5) * curve.stepSeconds()), y(value)));
      }
    }
    return points;
  }

  private double x(double second) {
    return LEFT + PLOT_WIDTH * second / seconds.end();
  }

  private double y(double value) {
    return top + PLOT_HEIGHT * (1 - value / values.end());
  }

  /** Most ticks are whole numbers, and look it. */
  private static String label(double tick) {
    return tick == Math.rint(tick)
        ? String.format(Locale.ROOT, "%,d", (long) tick)
        : Figures.of(tick);
  }

  private static double highest(OverTime curve) {
    return curve.values().stream()
        .mapToDouble(Double::doubleValue)
        .filter(v -> v > 0)
        .max()
        .orElse(0);
  }

  private static double length(OverTime curve) {
    return curve.values().size() * curve.stepSeconds();
  }
}
