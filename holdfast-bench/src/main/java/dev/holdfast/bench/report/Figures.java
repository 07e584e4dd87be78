package dev.holdfast.bench.report;

import java.util.Locale;

/** Numbers for people. */
public final class Figures {

  private Figures() {}

  /** Three digits are more than these machines repeat. */
  public static String of(double value) {
    double size = Math.abs(value);
    String format =
        size >= 100 || size == 0 ? "%,.0f" : size >= 10 ? "%.1f" : size >= 0.1 ? "%.2f" : "%.4f";
    return String.format(Locale.ROOT, format, value);
  }
}
