package dev.holdfast.soak;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.soak.Gauges.Gauge;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Everything at once for as long as it is told: nothing may grow that should not. Half a minute
 * with every build, which tells only whether all of it is done and what comes and goes within
 * seconds; {@code ./holdfast prove soak --minutes 60} judges heap and tables, too.
 */
class SoakTest {

  private static final int MINUTES = Integer.getInteger("holdfast.soak.minutes", 0);
  private static final Duration LENGTH =
      MINUTES == 0 ? Duration.ofSeconds(36) : Duration.ofMinutes(MINUTES);
  private static final Duration BETWEEN =
      MINUTES == 0 ? Duration.ofSeconds(2) : Duration.ofSeconds(10);
  private static final Duration RESTART_EVERY =
      MINUTES == 0 ? Duration.ofSeconds(12) : Duration.ofMinutes(2);

  private static final List<String> FEATURES =
      List.of(
          "jobs in bulk",
          "jobs with resources",
          "jobs of targets",
          "acts on what stands on a target",
          "pauses, resumes and cancels",
          "commands",
          "tenants made and dropped",
          "tokens drawn and revoked",
          "pages",
          "scrapes",
          "streams",
          "pulled jobs",
          "agents' jobs",
          "attempts");

  @TempDir Path directory;

  @Test
  @Timeout(value = 3, unit = TimeUnit.HOURS)
  void nothing_grows_however_long_it_runs() throws Exception {
    try (SoakRun run = new SoakRun(directory)) {
      run.play(LENGTH, BETWEEN, RESTART_EVERY);

      Map<Gauge, Drift> drifts = run.gauges().drifts();
      System.out.printf(
          "Soak: %s, %d samples, %d restarts; %s; done: %s%n",
          LENGTH, run.gauges().count(), run.restarts(), drifts.values(), run.tally().counts());
      assertThat(run.lasts()).isTrue();
      assertThat(run.broken()).isEmpty();
      assertThat(run.tally().surprises()).isEmpty();
      assertThat(run.tally().counts()).containsKeys(FEATURES.toArray(String[]::new));
      assertThat(run.restarts()).isGreaterThanOrEqualTo(2);
      assertThat(drifts)
          .as("what grows")
          .allSatisfy((gauge, drift) -> {
            if (MINUTES > 0 || !gauge.takesItsTime()) {
              assertThat(drift.grows()).as("%s", drift).isFalse();
            }
          });
    }
  }
}
