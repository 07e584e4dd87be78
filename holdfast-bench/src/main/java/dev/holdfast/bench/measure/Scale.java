package dev.holdfast.bench.measure;

import java.time.Duration;

/** How much of a workload is run. 1 is as described; smaller is quicker and less certain. */
public record Scale(double factor) {

  public Scale {
    if (!(factor > 0 && factor <= 100)) {
      throw new IllegalArgumentException("scale " + factor + ", not in 0 to 100");
    }
  }

  /** Never less than it takes to tell anything. */
  public int jobs(int full, int least) {
    return (int) Math.min(500_000_000, Math.max(least, full * factor));
  }

  public Duration time(Duration full, Duration least) {
    Duration scaled = Duration.ofMillis((long) (full.toMillis() * factor));
    return scaled.compareTo(least) < 0 ? least : scaled;
  }
}
