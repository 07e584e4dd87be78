package dev.holdfast.database;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.Holdfast;
import dev.holdfast.server.postgres.Cluster;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The database crashes under its producers and workers, who live on. */
class CrashTest {

  private static final int ROUNDS = Integer.getInteger("holdfast.crash.rounds", 3);
  private static final int JOBS = Integer.getInteger("holdfast.crash.jobs", 200);
  private static final int POOL = 8;

  @TempDir Path directory;

  @Test
  @Timeout(value = 2, unit = TimeUnit.HOURS)
  void nothing_acknowledged_is_lost_when_the_database_crashes_and_workers_go_on_by_themselves()
      throws Exception {
    Witness witness = new Witness();
    List<Duration> backAtWork = new ArrayList<>();
    try (Cluster cluster = Cluster.start(directory);
        HikariDataSource one = pool(cluster);
        HikariDataSource other = pool(cluster);
        HikariDataSource look = pool(cluster)) {
      Holdfast.on(one).migrate();
      try (Load load = new Load(witness)) {
        load.start(Holdfast.on(one));
        load.start(Holdfast.on(other));
        for (int round = 1; round <= ROUNDS; round++) {
          load.goOn(JOBS);
          cluster.restart(); // while they are all at it
          backAtWork.add(load.goOn(1));
          witness.compare(look, "after crash " + round);
        }
        load.drain(look);
      }
      witness.compare(look, "at the end");
    }

    System.out.printf(
        "Crash: %d crashes, %d jobs acknowledged, %d finished in %d attempts, %d ends refused,"
            + " back at work after %s ms, %d violations%n",
        ROUNDS,
        witness.enqueued(),
        witness.finished(),
        witness.attempts(),
        witness.refused(),
        backAtWork.stream().map(Duration::toMillis).toList(),
        witness.violations().size());
    assertThat(witness.violations()).isEmpty();
    assertThat(witness.enqueued()).isGreaterThanOrEqualTo(ROUNDS * JOBS);
  }

  private static HikariDataSource pool(Cluster cluster) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(cluster.jdbcUrl());
    config.setMaximumPoolSize(POOL);
    return new HikariDataSource(config);
  }
}
