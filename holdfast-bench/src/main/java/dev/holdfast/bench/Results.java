package dev.holdfast.bench;

import dev.holdfast.bench.measure.Costs;
import dev.holdfast.bench.measure.Sample;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToDoubleFunction;

/** Everything measured so far, by row and contender, in the order of the first sample. */
final class Results {

  private final Map<String, Map<String, List<Sample>>> rows = new LinkedHashMap<>();

  void add(String contender, Sample sample) {
    rows.computeIfAbsent(sample.row(), row -> new LinkedHashMap<>())
        .computeIfAbsent(contender, name -> new ArrayList<>())
        .add(sample);
  }

  Map<String, Map<String, Series>> byRow() {
    Map<String, Map<String, Series>> all = new LinkedHashMap<>();
    rows.forEach((row, byContender) -> {
      Map<String, Series> series = new LinkedHashMap<>();
      byContender.forEach((contender, samples) -> series.put(contender, new Series(samples)));
      all.put(row, series);
    });
    return all;
  }

  /** The same figure of the same contender, once per repeat. */
  record Series(List<Sample> samples) {

    String unit() {
      return samples.getFirst().unit();
    }

    double median() {
      return median(Sample::value);
    }

    double least() {
      return samples.stream().mapToDouble(Sample::value).min().orElse(Double.NaN);
    }

    double most() {
      return samples.stream().mapToDouble(Sample::value).max().orElse(Double.NaN);
    }

    Optional<Costs> costs() {
      if (samples.getFirst().costs().isEmpty()) {
        return Optional.empty();
      }
      return Optional.of(
          new Costs(
              medianCost(Costs::clientCpuMicros),
              medianCost(Costs::databaseCpuMicros),
              medianCost(Costs::walBytes),
              medianCost(Costs::transactions),
              medianCost(Costs::peakHeapMegabytes)));
    }

    private double medianCost(ToDoubleFunction<Costs> cost) {
      return median(sample -> sample.costs().map(cost::applyAsDouble).orElse(Double.NaN));
    }

    private double median(ToDoubleFunction<Sample> figure) {
      double[] sorted = samples.stream().mapToDouble(figure).toArray();
      Arrays.sort(sorted);
      int middle = sorted.length / 2;
      return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }
  }
}
