package dev.holdfast.bench.chart;

import dev.holdfast.bench.chart.Svg.Anchor;
import dev.holdfast.bench.chart.Svg.Point;
import dev.holdfast.bench.measure.OverTime;
import dev.holdfast.bench.measure.OverTime.Mark;
import dev.holdfast.bench.report.Figures;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Curves over time: a panel per contender, all to the same scale, and in it a curve per row. */
final class LinePlot {

  private static final int WIDTH = 860;
  private static final int LEFT = 70;
  private static final int PLOT_WIDTH = 760;
  private static final int PLOT_HEIGHT = 180;
  private static final int LEGEND_LINE = 16;
  private static final int TICKS = 4;

  private final Svg svg = Svg.ofWidth(WIDTH);
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
    svg.write(Anchor.LEFT, "title", LEFT, top + 4, contender + ", " + any.unit());
    top += 16;
    drawAxes();
    any.marks().forEach(this::draw);
    double legend = top + PLOT_HEIGHT + 34;
    int number = 0;
    for (Map.Entry<String, OverTime> curve : curves.entrySet()) {
      String colour = "c" + number % Svg.COLOURS;
      svg.curve(colour, points(curve.getValue()));
      svg.curve(colour, List.of(new Point(LEFT, legend - 4), new Point(LEFT + 24.0, legend - 4)));
      svg.write(Anchor.LEFT, "small", LEFT + 30.0, legend, curve.getKey());
      legend += LEGEND_LINE;
      number++;
    }
    top = legend + 16;
  }

  private void drawAxes() {
    svg.line("axis", LEFT, top, LEFT, y(0));
    svg.line("axis", LEFT, y(0), x(seconds.end()), y(0));
    for (double tick : values.ticks()) {
      svg.write(Anchor.RIGHT, "small", LEFT - 6.0, y(tick) + 4, Figures.of(tick));
    }
    for (double tick : seconds.ticks()) {
      svg.write(Anchor.MIDDLE, "small", x(tick), y(0) + 14, Figures.of(tick) + " s");
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
