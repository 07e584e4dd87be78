package dev.holdfast.bench.report;

import dev.holdfast.bench.contender.Contender;
import dev.holdfast.bench.measure.Costs;
import dev.holdfast.bench.measure.Finding;
import dev.holdfast.bench.measure.NotApplicable;
import dev.holdfast.bench.measure.OverTime;
import dev.holdfast.bench.measure.Sample;
import java.io.IOException;
import java.io.Writer;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import tools.jackson.databind.json.JsonMapper;

/** What was found, for programs: one JSON object a line, written as soon as it is known. */
public final class JsonLines {

  private record Measured(
      String row,
      String contender,
      String settings,
      int repeat,
      String unit,
      double value,
      Optional<Integer> jobs,
      Optional<Costs> costs,
      Optional<OverTime> overTime) {}

  private record Missing(String row, String contender, String notApplicable) {}

  private record Median(
      String row,
      String contender,
      String unit,
      double median,
      OptionalDouble ofRaw,
      OptionalDouble ofBestPeer) {}

  private final JsonMapper mapper = new JsonMapper();
  private final Writer out;

  public JsonLines(Writer out) {
    this.out = out;
  }

  public void write(Contender contender, int repeat, Finding finding) throws IOException {
    writeLine(
        switch (finding) {
          case Sample sample ->
              new Measured(
                  sample.row(),
                  contender.name(),
                  contender.settings(),
                  repeat,
                  sample.unit(),
                  sample.value(),
                  sample.jobs(),
                  sample.costs(),
                  sample.overTime());
          case NotApplicable missing ->
              new Missing(missing.row(), contender.name(), missing.reason());
        });
  }

  /** At the end, what only all samples together tell. */
  public void write(Results results) throws IOException {
    for (Row row : results.rows()) {
      for (Map.Entry<Contender, Series> entry : row.series().entrySet()) {
        writeLine(median(row, entry.getKey(), entry.getValue()));
      }
    }
  }

  private static Median median(Row row, Contender contender, Series series) {
    return new Median(
        row.name(),
        contender.name(),
        series.unit(),
        series.median(),
        row.ofRaw(contender),
        row.ofBestPeer(contender));
  }

  private void writeLine(Object line) throws IOException {
    out.write(mapper.writeValueAsString(line));
    out.write('\n');
    out.flush();
  }
}
