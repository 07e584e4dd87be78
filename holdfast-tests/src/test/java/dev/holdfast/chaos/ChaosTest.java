package dev.holdfast.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testkit.Covers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Worker processes killed, frozen and terminated, judged by a ledger outside of Holdfast. {@code
 * -Dholdfast.chaos.minutes=60} for a longer run, {@code -Dholdfast.chaos.jobs=2000} for a shorter
 * one, {@code -Dholdfast.chaos.seed} for other dice; with real processes a seed repeats what is
 * done, not when exactly it hits.
 */
class ChaosTest {

  private static final double MINUTES =
      Double.parseDouble(System.getProperty("holdfast.chaos.minutes", "1.5"));
  private static final int JOBS = Integer.getInteger("holdfast.chaos.jobs", 10_000);
  private static final long SEED = Long.getLong("holdfast.chaos.seed", 20_261_116L);

  @Test
  @Covers({"A1", "A2", "A3", "B3", "B11"})
  @Timeout(value = 4, unit = TimeUnit.HOURS)
  void whatever_happens_to_workers_no_job_is_lost_and_none_acts_under_a_stale_fence()
      throws Exception {
    try (ChaosRun run = new ChaosRun(SEED)) {
      run.play(Duration.ofMillis((long) (MINUTES * 60_000)), ChaosTest::isEnough);

      List<Violation> violations = run.violations();
      Figures figures = run.figures();
      Nemesis nemesis = run.nemesis();
      System.out.printf(
          "Chaos: seed %d, %d jobs, %d kills, %d freezes, %d terminations, %s,"
              + " drained in %d ms, %d violations, %d broken invariants, %d deadlocks; %s%n",
          SEED,
          run.acknowledged().size(),
          nemesis.kills(),
          nemesis.freezes(),
          nemesis.terminations(),
          figures,
          run.drained().toMillis(),
          violations.size(),
          run.broken().size(),
          run.deadlocks(),
          run.directory());

      assertThat(violations).isEmpty();
      assertThat(run.broken()).as("broken invariants").isEmpty();
      assertThat(run.deadlocks()).as("deadlocks").isZero();
      assertThat(run.surprises()).as("what the nemesis did not do").isEmpty();
      assertThat(figures.cutShort()).as("attempts that kills cut short").isGreaterThan(20);
      assertThat(figures.outlived()).as("attempts longer than their lease").isGreaterThan(50);
      assertThat(figures.drained())
          .as("processes that were terminated and drained")
          .isGreaterThanOrEqualTo(nemesis.terminations());
      assertThat(figures.givenBack()).as("attempts stopped by a drain").isPositive();
      assertThat(figures.refusedByLedger()).as("stale reports refused").isPositive();
      assertThat(figures.refusedByHoldfast()).as("stale writes refused").isPositive();
    }
  }

  /** Less would not show much. */
  private static boolean isEnough(ChaosRun run) {
    Nemesis nemesis = run.nemesis();
    return run.acknowledged().size() >= JOBS
        && nemesis.kills() >= 30
        && nemesis.freezes() >= 3
        && nemesis.terminations() >= 3;
  }
}
