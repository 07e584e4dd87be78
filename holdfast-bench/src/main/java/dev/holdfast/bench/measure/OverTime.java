package dev.holdfast.bench.measure;

import java.util.List;

/**
 * How a figure went while a run lasted.
 *
 * @param stepSeconds what each of the values covers, one after the other
 * @param marks what happened meanwhile
 */
public record OverTime(
    String what, String unit, double stepSeconds, List<Double> values, List<Mark> marks) {

  /** Something to be seen beside the curve. */
  public record Mark(String what, double atSeconds) {}
}
