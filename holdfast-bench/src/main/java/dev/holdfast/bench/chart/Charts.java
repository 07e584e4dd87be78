package dev.holdfast.bench.chart;

import dev.holdfast.bench.measure.OverTime;
import dev.holdfast.bench.report.Results;
import dev.holdfast.bench.report.Row;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/** The files of a run: the bars of all rows, and a plot for each workload that has curves. */
public final class Charts {

  private static final String SUFFIX = ".svg";

  private Charts() {}

  /** Writes the bars to this file, and the curves of W6 to one whose name ends in -W6. */
  public static void write(Results results, Path file) throws IOException {
    Files.writeString(file, BarChart.of(results));
    for (Map.Entry<String, Map<String, Map<String, OverTime>>> plot : curves(results).entrySet()) {
      Files.writeString(sibling(file, plot.getKey()), LinePlot.of(plot.getValue()));
    }
  }

  /** By workload, contender and row. */
  private static Map<String, Map<String, Map<String, OverTime>>> curves(Results results) {
    Map<String, Map<String, Map<String, OverTime>>> plots = new LinkedHashMap<>();
    for (Row row : results.rows()) {
      row.series()
          .forEach((contender, series) ->
              series
                  .overTime()
                  .ifPresent(curve ->
                      plots
                          .computeIfAbsent(row.workload(), workload -> new LinkedHashMap<>())
                          .computeIfAbsent(contender.name(), name -> new LinkedHashMap<>())
                          .put(row.name(), curve)));
    }
    return plots;
  }

  private static Path sibling(Path file, String workload) {
    String name = file.getFileName().toString();
    String stem = name.endsWith(SUFFIX) ? name.substring(0, name.length() - SUFFIX.length()) : name;
    return file.resolveSibling(stem + "-" + workload + SUFFIX);
  }
}
