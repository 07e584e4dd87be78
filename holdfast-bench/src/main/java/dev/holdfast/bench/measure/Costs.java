package dev.holdfast.bench.measure;

/** What one job cost. */
public record Costs(
    double clientCpuMicros,
    double databaseCpuMicros,
    double walBytes,
    double transactions,
    double peakHeapMegabytes) {

  public static Costs of(Reading spent, double jobs) {
    return new Costs(
        spent.clientCpuNanos() / 1e3 / jobs,
        spent.databaseCpuNanos() / 1e3 / jobs,
        spent.walBytes() / jobs,
        spent.transactions() / jobs,
        spent.peakHeapBytes() / 1e6);
  }
}
