package dev.holdfast.bench.report;

import dev.holdfast.bench.measure.Costs;
import dev.holdfast.bench.measure.OverTime;
import dev.holdfast.bench.measure.Sample;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.ToDoubleFunction;

/** The same figure of the same contender, once per repeat. */
public record Series(List<Sample> samples) {

  public String unit() {
    return samples.getFirst().unit();
  }

  public boolean moreIsBetter() {
    return samples.getFirst().moreIsBetter();
  }

  public double median() {
    return median(Sample::value);
  }

  double least() {
    return samples.stream().mapToDouble(Sample::value).min().orElse(Double.NaN);
  }

  double most() {
    return samples.stream().mapToDouble(Sample::value).max().orElse(Double.NaN);
  }

  /** How many jobs it was measured with, where that is worth saying. */
  Optional<Integer> jobs() {
    return samples.getFirst().jobs();
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
            medianCost(Costs::deadRows),
            medianCost(Costs::peakHeapMegabytes)));
  }

  /** Of the last repeat, in which all is as warm as it gets. */
  public Optional<OverTime> overTime() {
    return samples.getLast().overTime();
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
