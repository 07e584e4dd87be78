package dev.holdfast.database;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.Holdfast;
import dev.holdfast.rig.Cable;
import dev.holdfast.server.database.Database;
import dev.holdfast.server.database.DatabaseConfig;
import dev.holdfast.server.postgres.Cluster;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A primary and its synchronous standby change places, again and again: half the time the primary
 * crashes, half the time it only stops taking writes and keeps its connections. Run by {@code
 * ./holdfast prove failover}; {@code FailoverTest} does it once with every build. Needs the
 * programs of an installed PostgreSQL, because those that come with us cannot rewind.
 */
class Promotions {

  private static final int ROUNDS = Integer.getInteger("holdfast.failover.rounds", 2);
  private static final int JOBS = Integer.getInteger("holdfast.failover.jobs", 200);
  private static final Path PROGRAMS =
      Path.of(System.getProperty("holdfast.failover.programs", "/usr/lib/postgresql/15"));
  private static final int POOL = 12;
  private static final Duration SECONDS = Duration.ofSeconds(20);
  private static final Duration PAUSE = Duration.ofMillis(20);

  @TempDir Path directory;

  @Test
  @Timeout(value = 2, unit = TimeUnit.HOURS)
  void nothing_acknowledged_is_lost_when_the_standby_takes_over_and_work_goes_on_in_seconds()
      throws Exception {
    assertThat(PROGRAMS.resolve("bin/pg_rewind"))
        .as("install postgresql-15, or say where it is with --programs")
        .exists();
    Witness witness = new Witness();
    List<Duration> backAtWork = new ArrayList<>();
    String met;
    try (Cluster first = Cluster.start(directory, PROGRAMS);
        Cluster second = first.standby(directory.resolve("standby"));
        Cable toFirst = new Cable(first.port());
        Cable toSecond = new Cable(second.port())) {
      Cluster primary = first;
      Cluster standby = second;
      String both =
          "jdbc:postgresql://127.0.0.1:%d,127.0.0.1:%d/postgres?user=postgres"
              .formatted(first.port(), second.port());
      String byCable =
          "jdbc:postgresql://127.0.0.1:%d,127.0.0.1:%d/postgres?user=postgres&prepareThreshold=0"
              .formatted(toFirst.port(), toSecond.port());
      Holdfast.on(plain(first.jdbcUrl(), 2)).migrate();
      try (Database database = Database.open(new DatabaseConfig(both, POOL));
          HikariDataSource applications = plain(byCable + "&targetServerType=primary", POOL)) {
        try (Load load = new Load(witness)) {
          Blows blows = load.blows();
          load.start(database.holdfast());
          load.start(Holdfast.on(applications));
          for (int round = 1; round <= ROUNDS; round++) {
            demandStandby(primary, standby);
            load.goOn(JOBS);
            blows.brace(Optional.of(primary == first ? toFirst : toSecond));
            if (round % 2 == 0) {
              primary.stop("immediate");
            } else {
              refuseWrites(primary);
            }
            if (round / 2 % 2 == 0) {
              blows.outlast(); // with both kinds, and the other times it is quicker than leases
            }
            standby.execute("ALTER SYSTEM RESET synchronous_standby_names");
            standby.execute("SELECT pg_reload_conf()");
            assertThat(standby.ask("SELECT pg_promote()")).isEqualTo("t");
            backAtWork.add(load.goOn(1));
            witness.compare(database.work(), "after promotion " + round);
            if (round % 2 != 0) {
              primary.stop("immediate"); // with what it still had of connections
            }
            primary.follow(standby);
            Cluster promoted = standby;
            standby = primary;
            primary = promoted;
          }
          load.drain(database.work());
          met = blows.toString();
          assertThat(blows.answersLost()).as(met).isGreaterThanOrEqualTo(ROUNDS);
          assertThat(blows.ranOut()).as(met).isGreaterThanOrEqualTo(blows.outlasted());
          assertThat(witness.again()).as(met).isGreaterThanOrEqualTo(blows.ranOut());
        }
        witness.compare(database.work(), "at the end");
      }
    }

    System.out.printf(
        "Failover: %d promotions, %d jobs acknowledged, %d finished in %d attempts, %d ends"
            + " refused, back at work after %s ms, %d violations; %s%n",
        ROUNDS,
        witness.enqueued(),
        witness.finished(),
        witness.attempts(),
        witness.refused(),
        backAtWork.stream().map(Duration::toMillis).toList(),
        witness.violations().size(),
        met);
    assertThat(witness.violations()).isEmpty();
    assertThat(backAtWork).allMatch(took -> took.compareTo(SECONDS) < 0);
  }

  /** From when this returns, nothing is acknowledged that the standby does not have. */
  private static void demandStandby(Cluster primary, Cluster standby) throws SQLException {
    primary.execute("ALTER SYSTEM SET synchronous_standby_names = '*'");
    primary.execute("SELECT pg_reload_conf()");
    while (!primary.ask("SELECT sync_state FROM pg_stat_replication").equals("sync")) {
      Waiting.until(System.nanoTime(), PAUSE);
    }
    String written = primary.ask("SELECT pg_current_wal_lsn()");
    while (!standby
        .ask("SELECT pg_last_wal_receive_lsn() >= '%s'::pg_lsn".formatted(written))
        .equals("t")) {
      Waiting.until(System.nanoTime(), PAUSE);
    }
  }

  // What a switch-over by a careful operator looks like: connections stay.
  private static void refuseWrites(Cluster primary) throws SQLException {
    primary.execute("ALTER SYSTEM SET default_transaction_read_only = on");
    primary.execute("SELECT pg_reload_conf()");
    while (!primary.ask("SHOW default_transaction_read_only").equals("on")) {
      Waiting.until(System.nanoTime(), PAUSE);
    }
  }

  private static HikariDataSource plain(String url, int size) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(url);
    config.setMaximumPoolSize(size);
    config.setMinimumIdle(1);
    return new HikariDataSource(config);
  }
}
