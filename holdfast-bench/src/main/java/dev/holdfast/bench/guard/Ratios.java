package dev.holdfast.bench.guard;

import dev.holdfast.bench.contender.Contender;
import dev.holdfast.bench.contender.Role;
import dev.holdfast.bench.report.Results;
import dev.holdfast.bench.report.Row;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/** Holdfast's share of raw, by row. As text, a line each: the row, a colon and the share. */
public record Ratios(Map<String, Double> byRow) {

  public static Ratios of(Results results) {
    Map<String, Double> byRow = new LinkedHashMap<>();
    for (Row row : results.rows()) {
      for (Contender contender : row.series().keySet()) {
        if (contender.role() == Role.OURS) {
          row.ofRaw(contender).ifPresent(ratio -> byRow.put(row.name(), ratio));
        }
      }
    }
    return new Ratios(byRow);
  }

  public static Ratios parse(String text) {
    Map<String, Double> byRow = new LinkedHashMap<>();
    text.lines()
        .filter(line -> !line.isBlank())
        .forEach(line -> {
          int colon = line.lastIndexOf(':');
          if (colon < 0) {
            throw new IllegalArgumentException("no ratio in the line: " + line);
          }
          byRow.put(line.substring(0, colon), Double.valueOf(line.substring(colon + 1).strip()));
        });
    return new Ratios(byRow);
  }

  public String toText() {
    StringBuilder text = new StringBuilder();
    byRow.forEach(
        (row, ratio) -> text.append(String.format(Locale.ROOT, "%s: %.3f\n", row, ratio)));
    return text.toString();
  }
}
