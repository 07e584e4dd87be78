package dev.holdfast.database;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.Holdfast;
import dev.holdfast.server.database.Database;
import dev.holdfast.server.database.DatabaseConfig;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Three nodes under Patroni: by turns the leader hands over in good order, and is killed. Run by
 * {@code ./holdfast prove patroni}; needs Debian's packages postgresql-15, patroni and etcd-server.
 */
class PatroniSwitches {

  private static final int ROUNDS = Integer.getInteger("holdfast.patroni.rounds", 2);
  private static final int JOBS = Integer.getInteger("holdfast.patroni.jobs", 200);
  private static final int POOL = 12;

  @TempDir Path directory;

  @Test
  @Timeout(value = 4, unit = TimeUnit.HOURS)
  void nothing_acknowledged_is_lost_when_patroni_changes_the_leader() throws Exception {
    for (String program : List.of("/usr/bin/patroni", "/usr/bin/etcd")) {
      assertThat(Path.of(program))
          .as("install postgresql-15, patroni and etcd-server (apt-get install)")
          .exists();
    }
    Witness witness = new Witness();
    List<Duration> backAtWork = new ArrayList<>();
    String met;
    try (PatroniCluster cluster = new PatroniCluster(directory);
        Database database = Database.open(new DatabaseConfig(cluster.jdbcUrl(), POOL));
        HikariDataSource applications =
            pool(cluster.jdbcUrl() + "&targetServerType=primary&connectTimeout=5")) {
      database.holdfast().migrate();
      try (Load load = new Load(witness)) {
        load.start(database.holdfast());
        load.start(Holdfast.on(applications));
        for (int round = 1; round <= ROUNDS; round++) {
          load.goOn(JOBS);
          load.blows().brace(Optional.empty()); // whose answers are lost is left to Patroni
          if (round % 2 == 0) {
            cluster.killLeader();
            load.blows().outlast(); // which takes longer than their leases by itself
          } else {
            cluster.switchOver();
          }
          backAtWork.add(load.goOn(JOBS));
          cluster.clearAway();
          cluster.awaitHealth(); // until then an end of the leader could not be survived
          witness.compare(database.work(), "after change " + round);
        }
        load.drain(database.work());
        met = load.blows().toString();
        assertThat(load.blows().ranOut()).as(met).isGreaterThanOrEqualTo(load.blows().outlasted());
        assertThat(witness.again()).as(met).isGreaterThanOrEqualTo(load.blows().ranOut());
      }
      witness.compare(database.work(), "at the end");
    }

    System.out.printf(
        "Patroni: %d changes of the leader, %d jobs acknowledged, %d finished in %d attempts, %d"
            + " ends refused, %d more jobs done after %s ms, %d violations; %s%n",
        ROUNDS,
        witness.enqueued(),
        witness.finished(),
        witness.attempts(),
        witness.refused(),
        JOBS,
        backAtWork.stream().map(Duration::toMillis).toList(),
        witness.violations().size(),
        met);
    assertThat(witness.violations()).isEmpty();
  }

  private static HikariDataSource pool(String url) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(url);
    config.setMaximumPoolSize(POOL);
    return new HikariDataSource(config);
  }
}
