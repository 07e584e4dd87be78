package dev.holdfast.soak;

import java.util.List;
import java.util.Locale;

/**
 * Whether something grows with time: its middle value in the last third of a run beside that of the
 * third before. The first third is left out, in which caches fill, code is compiled and tables get
 * as large as retention lets them.
 *
 * @param slack how much more is no growth, in its own unit: what comes and goes by the second
 */
record Drift(String what, double before, double after, double slack) {

  private static final double TOLERATED = 1.10;

  static Drift of(String what, List<Double> samples, double slack) {
    int third = samples.size() / 3;
    if (third < 1) {
      throw new IllegalArgumentException(what + ": " + samples.size() + " samples tell nothing");
    }
    return new Drift(
        what,
        median(samples.subList(third, 2 * third)),
        median(samples.subList(2 * third, samples.size())),
        slack);
  }

  private static double median(List<Double> values) {
    List<Double> sorted = values.stream().sorted().toList();
    return sorted.get(sorted.size() / 2);
  }

  boolean grows() {
    return after > before * TOLERATED + slack;
  }

  @Override
  public String toString() {
    return String.format(
        Locale.ROOT, "%s %.1f, then %.1f%s", what, before, after, grows() ? ", GROWS" : "");
  }
}
