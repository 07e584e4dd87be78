package dev.holdfast.tenant;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNoException;

import dev.holdfast.rig.Waits;
import dev.holdfast.server.postgres.Cluster;
import dev.holdfast.testkit.TestDatabase;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Autovacuum, and who else is at a table in its way. */
class AutovacuumTest {

  private static final Duration PATIENCE = Duration.ofMinutes(1);

  private final SchemaName schema = new SchemaName("vacuumed");
  @TempDir Path directory;

  // It takes minutes by itself. On a server of its own, where it begins at once.
  @Test
  void it_gives_way_to_an_upgrade() throws Exception {
    try (Cluster cluster = Cluster.start(directory)) {
      Db db = Db.on(() -> DriverManager.getConnection(cluster.jdbcUrl()), schema);
      Migrator.TENANT.migrate(db, schema);
      cluster.execute(
          schema.render(
              """
              DELETE FROM {schema}.migration WHERE version >= 13;
              ALTER TABLE {schema}.job SET (autovacuum_vacuum_threshold = 1,
                autovacuum_vacuum_cost_limit = 1, autovacuum_vacuum_cost_delay = 100);
              INSERT INTO {schema}.job (id, lane, args)
                SELECT gen_random_uuid(), lane.id, '1'
                  FROM generate_series(1, 20000),
                       (SELECT nextval(pg_get_serial_sequence('{schema}.lane', 'id'))) AS lane (id);
              DELETE FROM {schema}.job;
              """));
      beginEvery(cluster, "1s");
      awaitAutovacuum(cluster);
      beginEvery(cluster, "1h");

      Migrator.TENANT.migrate(db, schema);

      assertThatNoException().isThrownBy(() -> Migrator.TENANT.version(db, schema).require());
      assertThat(directory.resolve("primary.log")).content().contains("canceling autovacuum task");
    }
  }

  private static void beginEvery(Cluster cluster, String naptime) throws SQLException {
    cluster.execute("ALTER SYSTEM SET autovacuum_naptime = '" + naptime + "'");
    cluster.execute("SELECT pg_reload_conf()");
  }

  private void awaitAutovacuum(Cluster cluster) throws SQLException {
    String atWork =
        schema.render(
            """
            SELECT count(*)
              FROM pg_locks
              JOIN pg_stat_activity USING (pid)
             WHERE backend_type = 'autovacuum worker' AND relation = '{schema}.job'::regclass
               AND mode = 'ShareUpdateExclusiveLock' AND granted
            """);
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (cluster.ask(atWork).equals("0")) {
      assertThat(System.nanoTime()).as("autovacuum does not come").isLessThan(deadline);
    }
  }

  @Test
  void nobody_waits_behind_whoever_waits_for_it_and_a_vacuum_that_goes_on_is_let_go_on()
      throws Exception {
    Db db = Db.on(TestDatabase.shared().dataSource()::getConnection, schema);
    db.jdbi()
        .useHandle(handle -> {
          handle.execute(schema.render("CREATE SCHEMA {schema}"));
          handle.execute(schema.render("CREATE TABLE {schema}.job (id bigint)"));
        });
    try (ExecutorService threads = Executors.newSingleThreadExecutor()) {
      db.jdbi()
          .useTransaction(vacuum -> {
            vacuum.execute(schema.render("LOCK TABLE {schema}.job IN SHARE UPDATE EXCLUSIVE MODE"));
            Future<?> waiting = threads.submit(() -> new Autovacuum(db, schema).interrupt());
            Waits.untilSomebodyWaitsFor(vacuum);
            db.jdbi()
                .useTransaction(worker -> {
                  worker.execute("SET LOCAL lock_timeout = '100ms'");
                  worker.execute(schema.render("INSERT INTO {schema}.job VALUES (1)"));
                });

            assertThat(waiting).succeedsWithin(PATIENCE);
          });
    } finally {
      db.jdbi().useHandle(handle -> handle.execute(schema.render("DROP SCHEMA {schema} CASCADE")));
    }
  }
}
