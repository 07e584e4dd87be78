package dev.holdfast.soak;

import java.util.List;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;

/**
 * Whether something grows with time: by the median of the slopes between any two samples (Theil and
 * Sen's estimate), which neither outliers nor what goes up and down can bend. The first third of a
 * run is left out, in which caches fill, code is compiled and tables get as large as retention lets
 * them.
 *
 * @param first the middle of the first third of what is judged
 * @param last the same of the last third
 * @param perHour how much it grows
 * @param hours how long what is judged took
 */
record Drift(
    String what, double first, double last, double perHour, double hours, Allowance allowance) {

  /** One look. */
  record Sample(double hours, double value) {}

  /**
   * What is no growth.
   *
   * @param noise between beginning and end, whatever lies between them, in its own unit
   * @param perHour what may be added to that in an hour
   */
  record Allowance(double noise, double perHour) {

    double over(double hours) {
      return noise + perHour * hours;
    }
  }

  private static final int LEAST_SAMPLES = 6;
  private static final int MOST_SAMPLES = 300;

  static Drift of(String what, List<Sample> all, Allowance allowance) {
    List<Sample> judged = all.subList(all.size() / 3, all.size());
    if (judged.size() < LEAST_SAMPLES) {
      throw new IllegalArgumentException(what + ": " + all.size() + " samples tell nothing");
    }
    int third = judged.size() / 3;
    return new Drift(
        what,
        median(judged.subList(0, third).stream().mapToDouble(Sample::value)),
        median(
            judged.subList(judged.size() - third, judged.size()).stream()
                .mapToDouble(Sample::value)),
        slope(judged),
        judged.getLast().hours - judged.getFirst().hours,
        allowance);
  }

  // Of very many, some: pairs grow with their square.
  private static double slope(List<Sample> judged) {
    int step = Math.ceilDiv(judged.size(), MOST_SAMPLES);
    List<Sample> some =
        IntStream.iterate(0, i -> i < judged.size(), i -> i + step).mapToObj(judged::get).toList();
    return median(
        IntStream.range(0, some.size())
            .boxed()
            .flatMapToDouble(i ->
                some.subList(i + 1, some.size()).stream()
                    .mapToDouble(late -> slope(some.get(i), late))));
  }

  private static double slope(Sample early, Sample late) {
    return (late.value - early.value) / (late.hours - early.hours);
  }

  private static double median(DoubleStream values) {
    double[] sorted = values.sorted().toArray();
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }

  boolean grows() {
    return strain() > 1;
  }

  /** How much of what is allowed was taken. */
  double strain() {
    return perHour * hours / allowance.over(hours);
  }
}
