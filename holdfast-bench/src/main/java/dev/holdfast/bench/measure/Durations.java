package dev.holdfast.bench.measure;

import java.util.Arrays;

/** Measured times, and their percentiles. Thread-safe: every method takes the monitor. */
public final class Durations {

  private long[] nanos = new long[1_024];
  private int size;

  public synchronized void add(long more) {
    if (size == nanos.length) {
      nanos = Arrays.copyOf(nanos, 2 * size);
    }
    nanos[size++] = more;
  }

  public synchronized int count() {
    return size;
  }

  /** NaN when nothing was measured. */
  public synchronized double millisAt(double quantile) {
    if (size == 0) {
      return Double.NaN;
    }
    long[] sorted = Arrays.copyOf(nanos, size);
    Arrays.sort(sorted);
    return sorted[(int) Math.min(size - 1, Math.floor(quantile * size))] / 1e6;
  }
}
