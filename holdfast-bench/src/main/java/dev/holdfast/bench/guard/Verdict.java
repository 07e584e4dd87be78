package dev.holdfast.bench.guard;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Whether Holdfast is about as fast as it was, measured as a share of raw: the machines differ, and
 * the same machine from hour to hour, but both contenders are struck alike.
 *
 * @param lines what to say of every row
 * @param fallen the rows that are too slow, or were not measured
 */
public record Verdict(List<String> lines, List<String> fallen) {

  /** Ratios drift by a tenth without cause; a fifth is no drift. */
  static final double LEAST_SHARE = 0.8;

  public static Verdict on(Ratios measured, Ratios recorded) {
    List<String> lines = new ArrayList<>();
    List<String> fallen = new ArrayList<>();
    for (Map.Entry<String, Double> expected : recorded.byRow().entrySet()) {
      String row = expected.getKey();
      Double ratio = measured.byRow().get(row);
      boolean fell = fell(ratio, expected.getValue());
      lines.add(line(row, ratio, expected.getValue(), fell));
      if (fell) {
        fallen.add(row);
      }
    }
    measured
        .byRow()
        .forEach((row, ratio) -> {
          if (!recorded.byRow().containsKey(row)) {
            lines.add(String.format(Locale.ROOT, "%s: %.2f of raw, none recorded", row, ratio));
          }
        });
    return new Verdict(lines, fallen);
  }

  public boolean passes() {
    return fallen.isEmpty();
  }

  /** NaN, from a run that measured nothing, is no pass. */
  private static boolean fell(@Nullable Double ratio, double expected) {
    return ratio == null || !(ratio >= LEAST_SHARE * expected);
  }

  private static String line(String row, @Nullable Double ratio, double expected, boolean fell) {
    if (ratio == null) {
      return row + ": not measured, though a ratio is recorded";
    }
    return String.format(
        Locale.ROOT,
        "%s: %.2f of raw, recorded %.2f%s",
        row,
        ratio,
        expected,
        fell ? ", TOO SLOW: less than " + LEAST_SHARE + " of that" : "");
  }
}
