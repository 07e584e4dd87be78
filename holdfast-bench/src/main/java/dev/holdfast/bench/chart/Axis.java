package dev.holdfast.bench.chart;

import java.util.List;
import java.util.stream.IntStream;

/** From 0 up, with ticks at round numbers. */
record Axis(double step, int steps) {

  /** As few more than {@code ticks} as it takes for steps of 1, 2 or 5 times a power of ten. */
  static Axis upTo(double most, int ticks) {
    if (!(most > 0)) {
      return new Axis(1, 1);
    }
    double wanted = most / ticks;
    double power = Math.pow(10, Math.floor(Math.log10(wanted)));
    double step =
        wanted <= power
            ? power
            : wanted <= 2 * power ? 2 * power : wanted <= 5 * power ? 5 * power : 10 * power;
    return new Axis(step, (int) Math.ceil(most / step));
  }

  double end() {
    return step * steps;
  }

  List<Double> ticks() {
    return IntStream.rangeClosed(0, steps).mapToObj(number -> number * step).toList();
  }
}
