package dev.holdfast.bench.measure;

/**
 * What one job cost, and what the run left behind.
 *
 * @param deadRows in all, after the run: what vacuum has still to do
 */
public record Costs(
    double clientCpuMicros,
    double databaseCpuMicros,
    double walBytes,
    double transactions,
    double deadRows,
    double peakHeapMegabytes) {

  public static Costs of(Reading spent, double jobs) {
    return new Costs(
        spent.clientCpuNanos() / 1e3 / jobs,
        spent.databaseCpuNanos() / 1e3 / jobs,
        spent.walBytes() / jobs,
        spent.transactions() / jobs,
        spent.deadRows(),
        spent.peakHeapBytes() / 1e6);
  }
}
