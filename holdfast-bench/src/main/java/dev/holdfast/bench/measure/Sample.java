package dev.holdfast.bench.measure;

import java.util.Optional;

/**
 * One figure from one run.
 *
 * @param jobs how many it was measured with, where a slow contender may have been given fewer
 * @param overTime how it went meanwhile, where that was watched
 */
public record Sample(
    String row,
    String unit,
    double value,
    Optional<Costs> costs,
    Optional<Integer> jobs,
    Optional<OverTime> overTime)
    implements Finding {

  private static final String RATE = "jobs/s";

  public static Sample of(String row, String unit, double value) {
    return new Sample(row, unit, value, Optional.empty(), Optional.empty(), Optional.empty());
  }

  public static Sample rate(String row, double jobsPerSecond) {
    return of(row, RATE, jobsPerSecond);
  }

  public static Sample rate(String row, double jobsPerSecond, Costs costs) {
    return new Sample(
        row, RATE, jobsPerSecond, Optional.of(costs), Optional.empty(), Optional.empty());
  }

  public Sample withJobs(int jobs) {
    return new Sample(row, unit, value, costs, Optional.of(jobs), overTime);
  }

  public Sample withOverTime(OverTime curve) {
    return new Sample(row, unit, value, costs, jobs, Optional.of(curve));
  }

  /** Of jobs a second, the more the better; of all else that is compared, the less. */
  public boolean moreIsBetter() {
    return unit.equals(RATE);
  }
}
