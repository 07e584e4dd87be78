package dev.holdfast.bench;

import dev.holdfast.bench.measure.Costs;
import dev.holdfast.bench.measure.Sample;
import java.io.IOException;
import java.io.Writer;
import java.util.Optional;
import tools.jackson.databind.json.JsonMapper;

/** Samples for programs, one JSON object a line, each written as soon as it is measured. */
final class JsonLines {

  private record Line(
      String row,
      String contender,
      int repeat,
      String unit,
      double value,
      Optional<Costs> costsPerJob) {}

  private final JsonMapper mapper = new JsonMapper();
  private final Writer out;

  JsonLines(Writer out) {
    this.out = out;
  }

  void write(String contender, int repeat, Sample sample) throws IOException {
    Line line =
        new Line(sample.row(), contender, repeat, sample.unit(), sample.value(), sample.costs());
    out.write(mapper.writeValueAsString(line));
    out.write('\n');
    out.flush();
  }
}
