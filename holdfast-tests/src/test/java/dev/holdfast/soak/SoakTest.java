package dev.holdfast.soak;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Everything at once for as long as it is told: nothing may grow that should not. Half a minute
 * with every build, which tells only whether all of it is done and what comes and goes within
 * seconds; {@code ./holdfast prove soak --minutes 60} judges heap, tables and indexes, too. All
 * samples are in {@code target/soak.csv}.
 */
class SoakTest {

  private static final int MINUTES = Integer.getInteger("holdfast.soak.minutes", 0);
  private static final boolean IS_LONG = MINUTES > 0;
  private static final Duration LENGTH =
      IS_LONG ? Duration.ofMinutes(MINUTES) : Duration.ofSeconds(30);
  private static final Duration BETWEEN = Duration.ofSeconds(IS_LONG ? 10 : 2);
  private static final Duration RESTART_EVERY =
      IS_LONG ? Duration.ofMinutes(2) : Duration.ofSeconds(10);
  // Of more than a thousand calls a minute, on a machine that is busy with other things, too.
  private static final int MOST_MISSED = 2;
  private static final int MINUTES_PER_MISSED = 10;
  private static final Path SAMPLES = Path.of("target", "soak.csv");

  @TempDir Path directory;

  @Test
  @Timeout(value = 26, unit = TimeUnit.HOURS)
  void nothing_grows_however_long_it_runs() throws Exception {
    try (SoakRun run = new SoakRun(directory)) {
      run.play(LENGTH, BETWEEN, RESTART_EVERY);

      run.readings().write(SAMPLES);
      Map<Readings.Key, Drift> drifts = run.readings().drifts(IS_LONG);
      System.out.printf(
          "Soak: %.1f minutes, %d looks; done: %s; %d not answered by the server that comes and"
              + " goes, %d by the one that lasts%n%s",
          run.minutes(),
          run.readings().looks(),
          run.tally().counts(),
          run.tally().unansweredCount(),
          run.tally().missed().size(),
          Readings.table(drifts));
      assertThat(run.lasts()).isTrue();
      assertThat(drifts.keySet()).as("what was measured").containsAll(run.gauged());
      assertThat(run.broken()).isEmpty();
      assertThat(run.deadlocks()).as("deadlocks").isZero();
      assertThat(run.tally().surprises()).isEmpty();
      assertThat(run.tally().missed())
          .as("what the server that lasts did not answer")
          .hasSizeLessThanOrEqualTo(MOST_MISSED + (int) (run.minutes() / MINUTES_PER_MISSED));
      assertThat(Feature.values())
          .allSatisfy(feature ->
              assertThat(run.tally().counts().getOrDefault(feature, 0L))
                  .as("%s in %.1f minutes", feature, run.minutes())
                  .isGreaterThanOrEqualTo(feature.floor(run.minutes())));
      assertThat(drifts.values()).filteredOn(Drift::grows).as("what grows").isEmpty();
    }
  }
}
