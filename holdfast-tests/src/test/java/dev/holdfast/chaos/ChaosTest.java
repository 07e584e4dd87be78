package dev.holdfast.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.chaos.verdict.Violation;
import dev.holdfast.testkit.Covers;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Servers, workers and agents killed, frozen, terminated and cut off, judged by a ledger outside of
 * Holdfast. {@code -Dholdfast.chaos.minutes=60} or {@code -Dholdfast.chaos.jobs=300000} for a
 * longer run, {@code -Dholdfast.chaos.seed} for other dice; with real processes a seed repeats what
 * is done, not when exactly it hits. {@code -Dholdfast.chaos.jobs=2000
 * -Dholdfast.chaos.blows=FREEZE,HOLD_WORKERS_FROM_SERVER} for a small one that deals those blows
 * alone; {@code -Dholdfast.chaos.judge} judges what an earlier run has left.
 */
@Order(1) // takes minutes
class ChaosTest {

  private static final String JUDGE = "holdfast.chaos.judge";

  @Test
  @Covers({"A1", "A2", "A3", "B3", "B11"})
  @Timeout(value = 4, unit = TimeUnit.HOURS)
  void whatever_happens_to_them_no_job_is_lost_and_none_acts_under_a_stale_fence()
      throws Exception {
    Optional<Path> earlier = Optional.ofNullable(System.getProperty(JUDGE)).map(Path::of);
    if (earlier.isPresent()) {
      judge(new RunFiles(earlier.get()));
      return;
    }
    Size size = Size.ofProperties();
    try (ChaosRun run = new ChaosRun(size)) {
      run.play();

      List<Violation> violations = run.violations();
      List<Reached> coverage = Coverage.of(run, size.grownTo(run.jobs()));
      System.out.printf(
          "Chaos: seed %d, %d jobs, drained in %d ms, %d violations, %d broken invariants,"
              + " %d deadlocks; %s%n",
          size.seed(),
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
      assertThat(run.watch().missing()).as("fewer jobs than acknowledged").isEmpty();
      assertThat(run.watch().deadlocks()).as("deadlocks").isZero();
      assertThat(run.surprises()).as("what the nemesis did not do").isEmpty();
      assertThat(coverage.stream().filter(Reached::isAmiss))
          .as("what was reached too rarely for this run to show anything, or took too long")
          .isEmpty();
    }
  }

  /** What a run has left. */
  private static void judge(RunFiles files) throws Exception {
    List<Violation> violations = files.violations();
    System.out.printf(
        "Chaos: %d violations, %d of %d last attempts that were to fail put down to a mishap, in %s%n",
        violations.size(), files.excused(), files.doomed(), files.directory());
    violations.forEach(System.out::println);

    assertThat(violations).isEmpty();
  }
}
