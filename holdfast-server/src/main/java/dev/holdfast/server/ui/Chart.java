package dev.holdfast.server.ui;

import dev.holdfast.api.Json;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.DoubleFunction;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Lines over time, drawn on the server, so that they need no script and have the colours of the
 * page. A script adds the values under the pointer.
 *
 * @param points all values, for that script
 */
record Chart(
    String name,
    String title,
    String note,
    List<Line> lines,
    List<String> ticks,
    Instant from,
    Instant to,
    String points) {

  static final int WIDTH = 600;
  static final int HEIGHT = 150;

  /** One line, with its latest value in words. */
  record Line(String name, String look, String path, String latest) {}

  /** The values to draw, one per moment; NaN where there is none. */
  record Series(String name, String look, List<Double> values) {}

  static Chart of(
      String name,
      String title,
      String note,
      List<Instant> moments,
      List<Series> all,
      DoubleFunction<String> words) {
    double most =
        all.stream()
            .flatMap(series -> series.values().stream())
            .filter(value -> !value.isNaN())
            .mapToDouble(Double::doubleValue)
            .max()
            .orElse(0);
    double top = round(most);
    List<Line> lines = new ArrayList<>();
    for (Series series : all) {
      double latest =
          series.values().reversed().stream()
              .filter(value -> !value.isNaN())
              .findFirst()
              .orElse(Double.NaN);
      lines.add(
          new Line(
              series.name(),
              series.look(),
              path(series.values(), top),
              Double.isNaN(latest) ? "–" : words.apply(latest)));
    }
    Instant from = moments.isEmpty() ? Instant.EPOCH : moments.getFirst();
    Instant to = moments.isEmpty() ? Instant.EPOCH : moments.getLast();
    return new Chart(
        name,
        title,
        note,
        lines,
        List.of(words.apply(top), words.apply(top / 2), "0"),
        from,
        to,
        points(moments, all, words));
  }

  boolean isEmpty() {
    return from.equals(to);
  }

  private static String path(List<Double> values, double top) {
    StringBuilder path = new StringBuilder();
    boolean on = false;
    for (int i = 0; i < values.size(); i++) {
      double value = values.get(i);
      if (Double.isNaN(value)) {
        on = false;
        continue;
      }
      double x = values.size() < 2 ? 0 : (double) i * WIDTH / (values.size() - 1);
      double y = HEIGHT - Math.min(1, value / top) * (HEIGHT - 4) - 1;
      path.append(String.format(Locale.ROOT, "%s%.1f %.1f", on ? "L" : "M", x, y));
      on = true;
    }
    return path.toString();
  }

  // Rounds up to a number that is easy to halve.
  private static double round(double most) {
    if (most <= 0) {
      return 1;
    }
    double unit = Math.pow(10, Math.floor(Math.log10(most)));
    for (double step : new double[] {1, 2, 4, 5, 10}) {
      if (most <= step * unit) {
        return step * unit;
      }
    }
    return 10 * unit;
  }

  private static String points(
      List<Instant> moments, List<Series> all, DoubleFunction<String> words) {
    ObjectNode json = Json.object();
    ArrayNode times = json.putArray("at");
    moments.forEach(moment -> times.add(moment.getEpochSecond()));
    ArrayNode lines = json.putArray("lines");
    for (Series series : all) {
      ObjectNode line = lines.addObject().put("name", series.name());
      ArrayNode values = line.putArray("said");
      series.values().forEach(value -> values.add(value.isNaN() ? "–" : words.apply(value)));
    }
    return Json.write(json);
  }
}
