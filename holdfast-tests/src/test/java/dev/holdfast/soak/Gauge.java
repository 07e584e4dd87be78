package dev.holdfast.soak;

import dev.holdfast.soak.Drift.Allowance;
import java.util.Locale;

/** What must not grow: each of several processes, tables or indexes on its own. */
enum Gauge {
  /** What is left after everything that nobody needs was thrown away. */
  HEAP_MEGABYTES(1, 2),
  THREADS(2, 1, 8),
  OPEN_FILES(4, 1, 16),
  /** Of what a server and an agent keep in their directories. */
  SAVED_FILES(10, 5),
  CONNECTIONS(2, 1, 4),
  /** One for each tenant, and tenants come and go. */
  SCHEMAS(1, 0.5, 2),
  TABLE_MEGABYTES(1, 1),
  INDEX_MEGABYTES(1, 1),
  /** The database's own tables and indexes, which know every table that a tenant ever had. */
  CATALOG_MEGABYTES(1, 1),
  DEAD_ROWS(10_000, 10_000);

  private final double noise;
  private final double perHour;
  private final double inSeconds;

  Gauge(double noise, double perHour, double inSeconds) {
    this.noise = noise;
    this.perHour = perHour;
    this.inSeconds = inSeconds;
  }

  /** Grows until what is kept for a minute is pruned: nothing that a short run can judge. */
  Gauge(double noise, double perHour) {
    this(noise, perHour, Double.POSITIVE_INFINITY);
  }

  Allowance allowance(boolean isLong) {
    return new Allowance(isLong ? noise : inSeconds, perHour);
  }

  /** There is so little of what it measures that all of it can be told. */
  boolean isFew() {
    return compareTo(TABLE_MEGABYTES) < 0;
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }
}
