package dev.holdfast.soak;

import dev.holdfast.soak.Drift.Sample;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/** All that was measured, and what it says. */
final class Readings {

  /** What is measured, and of what. */
  record Key(Gauge gauge, String of) implements Comparable<Key> {

    @Override
    public int compareTo(Key other) {
      return Comparator.comparing(Key::gauge).thenComparing(Key::of).compare(this, other);
    }

    @Override
    public String toString() {
      return of.isEmpty() ? gauge.toString() : gauge + " of " + of;
    }
  }

  private static final int WORST = 5;
  private static final String COLUMNS = "%-58s %12s %12s %12s %12s  %s%n";

  private final Map<Key, List<Sample>> samples = new TreeMap<>();
  private final long beganNanos = System.nanoTime();
  private int looks;
  private double hours;

  /** What is noted from now on is of one time. */
  void look() {
    looks++;
    hours = (System.nanoTime() - beganNanos) / 3.6e12;
  }

  void note(Gauge gauge, String of, double value) {
    samples
        .computeIfAbsent(new Key(gauge, of), unused -> new ArrayList<>())
        .add(new Sample(hours, value));
  }

  int looks() {
    return looks;
  }

  /** Of everything that was there for most of the run: what came and went is nobody's growth. */
  Map<Key, Drift> drifts(boolean isLong) {
    Map<Key, Drift> drifts = new TreeMap<>();
    samples.forEach((key, values) -> {
      if (values.size() > looks / 2) {
        drifts.put(key, Drift.of(key.toString(), values, key.gauge.allowance(isLong)));
      }
    });
    return drifts;
  }

  /** Of tables and indexes, which are many, the worst few, and all that grow. */
  static String table(Map<Key, Drift> drifts) {
    StringBuilder table =
        new StringBuilder(
            COLUMNS.formatted("gauge", "first", "last", "per hour", "allowed", "verdict"));
    for (Gauge gauge : Gauge.values()) {
      List<Drift> all =
          drifts.entrySet().stream()
              .filter(entry -> entry.getKey().gauge == gauge)
              .map(Map.Entry::getValue)
              .sorted(Comparator.comparingDouble(Drift::strain).reversed())
              .toList();
      Stream.concat(
              all.stream().limit(gauge.isFew() ? all.size() : WORST),
              all.stream().skip(gauge.isFew() ? all.size() : WORST).filter(Drift::grows))
          .forEach(drift -> table.append(row(drift)));
      if (!gauge.isFew()) {
        table.append("  %d of these were measured%n".formatted(all.size()));
      }
    }
    return table.toString();
  }

  private static String row(Drift drift) {
    double allowed = drift.allowance().over(drift.hours()) / drift.hours();
    return COLUMNS.formatted(
        drift.what(),
        figure(drift.first()),
        figure(drift.last()),
        figure(drift.perHour()),
        Double.isInfinite(allowed) ? "any" : figure(allowed),
        drift.grows() ? "GROWS" : "ok");
  }

  private static String figure(double value) {
    return String.format(Locale.ROOT, "%.2f", value);
  }

  void write(Path file) throws IOException {
    List<String> lines = new ArrayList<>(List.of("seconds,gauge,of,value"));
    samples.forEach((key, values) ->
        values.forEach(sample ->
            lines.add(
                String.format(
                    Locale.ROOT,
                    "%.1f,%s,%s,%.3f",
                    sample.hours() * 3600,
                    key.gauge,
                    key.of,
                    sample.value()))));
    Files.createDirectories(file.toAbsolutePath().getParent());
    Files.write(file, lines);
  }
}
