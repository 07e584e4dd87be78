package dev.holdfast.database;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.Holdfast;
import dev.holdfast.rig.Cable;
import dev.holdfast.server.postgres.Cluster;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
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
    String met;
    try (Cluster cluster = Cluster.start(directory);
        Cable cable = new Cable(cluster.port());
        HikariDataSource one = pool(cluster.jdbcUrl());
        HikariDataSource other = pool(Blows.readable(cluster.jdbcUrl(), cluster.port(), cable));
        HikariDataSource look = pool(cluster.jdbcUrl())) {
      Holdfast.on(one).migrate();
      try (Load load = new Load(witness)) {
        Blows blows = load.blows();
        load.start(Holdfast.on(one));
        load.start(Holdfast.on(other));
        for (int round = 1; round <= ROUNDS; round++) {
          load.goOn(JOBS);
          blows.brace(Optional.of(cable));
          cluster.crash(); // while they are all at it
          if (round % 2 == 1) {
            blows.outlast(); // the other times it is back before most leases are over
          }
          cluster.start();
          backAtWork.add(load.goOn(1));
          witness.compare(look, "after crash " + round);
        }
        load.drain(look);
        met = blows.toString();
        assertThat(blows.fewestUnderWay()).as("handlers under way at each blow").isPositive();
        assertThat(blows.answersLost()).as(met).isGreaterThanOrEqualTo(ROUNDS);
        assertThat(blows.ranOut()).as(met).isGreaterThanOrEqualTo(blows.outlasted());
        assertThat(witness.again()).as(met).isGreaterThanOrEqualTo(blows.ranOut());
      }
      witness.compare(look, "at the end");
    }

    System.out.printf(
        "Crash: %d crashes, %d jobs acknowledged, %d finished in %d attempts, %d ends refused,"
            + " back at work after %s ms, %d violations; %s%n",
        ROUNDS,
        witness.enqueued(),
        witness.finished(),
        witness.attempts(),
        witness.refused(),
        backAtWork.stream().map(Duration::toMillis).toList(),
        witness.violations().size(),
        met);
    assertThat(witness.violations()).isEmpty();
    assertThat(witness.enqueued()).isGreaterThanOrEqualTo(ROUNDS * JOBS);
  }

  private static HikariDataSource pool(String jdbcUrl) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(jdbcUrl);
    config.setMaximumPoolSize(POOL);
    return new HikariDataSource(config);
  }
}
