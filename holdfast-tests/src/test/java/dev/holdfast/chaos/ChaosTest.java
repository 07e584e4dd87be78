package dev.holdfast.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.chaos.nemesis.Blow;
import dev.holdfast.chaos.nemesis.Nemesis;
import dev.holdfast.chaos.verdict.Violation;
import dev.holdfast.testkit.Covers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Servers, workers and agents killed, frozen, terminated and cut off, judged by a ledger outside of
 * Holdfast. {@code -Dholdfast.chaos.minutes=60} for a longer run, {@code
 * -Dholdfast.chaos.jobs=2000} for a shorter one, {@code -Dholdfast.chaos.seed} for other dice; with
 * real processes a seed repeats what is done, not when exactly it hits.
 */
@Order(1) // takes minutes
class ChaosTest {

  private static final boolean LONG = System.getProperty("holdfast.chaos.minutes") != null;
  private static final double MINUTES =
      Double.parseDouble(System.getProperty("holdfast.chaos.minutes", "1.5"));
  private static final int JOBS = Integer.getInteger("holdfast.chaos.jobs", 10_000);
  private static final long SEED = Long.getLong("holdfast.chaos.seed", 20_261_116L);

  @Test
  @Covers({"A1", "A2", "A3", "B3", "B11"})
  @Timeout(value = 4, unit = TimeUnit.HOURS)
  void whatever_happens_to_them_no_job_is_lost_and_none_acts_under_a_stale_fence()
      throws Exception {
    try (ChaosRun run = new ChaosRun(SEED, LONG)) {
      run.play(Duration.ofMillis((long) (MINUTES * 60_000)), () -> isEnough(run));

      List<Violation> violations = run.violations();
      List<Reached> coverage = Coverage.of(run);
      System.out.printf(
          "Chaos: seed %d, %d jobs, drained in %d ms, %d violations, %d broken invariants,"
              + " %d deadlocks; %s%n",
          SEED,
          run.jobs(),
          run.drained().toMillis(),
          violations.size(),
          run.watch().broken().size(),
          run.watch().deadlocks(),
          run.directory());
      coverage.forEach(System.out::println);
      violations.forEach(System.out::println);
      run.watch().broken().stream().distinct().forEach(System.out::println);

      assertThat(violations).isEmpty();
      assertThat(run.watch().broken()).as("broken invariants").isEmpty();
      assertThat(run.watch().deadlocks()).as("deadlocks").isZero();
      assertThat(run.surprises()).as("what the nemesis did not do").isEmpty();
      assertThat(coverage.stream().filter(Reached::isTooRare))
          .as("what was reached too rarely for this run to show anything")
          .isEmpty();
    }
  }

  /** Less would not show much. */
  private static boolean isEnough(ChaosRun run) {
    Nemesis nemesis = run.nemesis();
    return run.jobs() >= JOBS
        && nemesis.dealt(Blow.KILL) >= 30
        && nemesis.dealt(Blow.FREEZE) >= 3
        && nemesis.dealt(Blow.TERMINATE) >= 3
        && nemesis.dealt(Blow.KILL_SERVER) >= 1
        && nemesis.dealt(Blow.TERMINATE_SERVER) >= 1
        && nemesis.dealt(Blow.LOSE_CLAIM) >= 1
        && nemesis.dealt(Blow.LOSE_PULL) >= 1
        && nemesis.dealt(Blow.LOSE_COMMIT) >= 1;
  }
}
