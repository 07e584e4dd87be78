package dev.holdfast.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A server and its own database are killed together, in the midst of their work. */
class PowerTest {

  private static final int ROUNDS = Integer.getInteger("holdfast.power.rounds", 2);
  private static final int JOBS = Integer.getInteger("holdfast.power.jobs", 300);

  @TempDir Path directory;

  @Test
  @Timeout(value = 1, unit = TimeUnit.HOURS)
  void nothing_acknowledged_is_lost_when_server_and_database_are_killed_together()
      throws Exception {
    PowerRun run = new PowerRun(directory);
    for (int round = 0; round < ROUNDS; round++) {
      run.round(round, JOBS);
    }
    run.drain();

    System.out.printf(
        "Power: %d cuts, %d jobs acknowledged, %d finished, %d granted again after a cut, starts"
            + " %s ms, %d violations; %s%n",
        ROUNDS,
        run.enqueued(),
        run.finished(),
        run.grantedAgain(),
        run.starts().stream().map(Duration::toMillis).toList(),
        run.violations().size(),
        run.rounds());
    assertThat(run.violations()).isEmpty();
    assertThat(run.enqueued()).isGreaterThanOrEqualTo(ROUNDS * JOBS);
    assertThat(run.rounds())
        .as("jobs finished and jobs held by a worker, at each cut")
        .hasSize(ROUNDS)
        .allMatch(round -> round.finished() > 0 && round.cutOff() > 0);
    assertThat(run.grantedAgain()).as("jobs granted again after a cut").isPositive();
  }
}
