package dev.holdfast.bench.measure;

import java.util.Optional;

/**
 * One figure from one run.
 *
 * @param row what was measured, the same for all contenders and repeats
 */
public record Sample(String row, String unit, double value, Optional<Costs> costs) {

  public static Sample of(String row, String unit, double value) {
    return new Sample(row, unit, value, Optional.empty());
  }

  public static Sample of(String row, String unit, double value, Costs costs) {
    return new Sample(row, unit, value, Optional.of(costs));
  }
}
