package dev.holdfast.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Holdfast;
import dev.holdfast.doctor.Finding.Level;
import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.fleet.Presence;
import dev.holdfast.fleet.WorkerInfo;
import dev.holdfast.job.NewJob;
import dev.holdfast.queue.QueueSettings;
import dev.holdfast.tenant.Db;
import dev.holdfast.tenant.TenantName;
import dev.holdfast.tenant.Tenants;
import dev.holdfast.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** Each check sees what it is there for, on a real database, and says what to do. */
class DoctorTest {

  private static final AtomicInteger NUMBER = new AtomicInteger();

  private final String schema = "doctor_" + NUMBER.incrementAndGet();
  private final DataSource database = TestDatabase.shared().dataSource();
  private final Holdfast holdfast = Holdfast.builder(database).controlSchema(schema).build();
  private final Tenants tenants = holdfast.tenants();

  @BeforeEach
  void migrate() {
    holdfast.migrate();
  }

  @AfterEach
  void drop() throws SQLException {
    execute("DROP SCHEMA %1$s CASCADE; DROP SCHEMA %1$s_default CASCADE".formatted(schema));
  }

  @Test
  void all_checks_are_made_and_a_database_that_forgets_is_found_out() {
    List<Finding> findings = holdfast.doctor(InstantSource.system()).examine();

    // The tests' own does not write to the disk what it commits, and nothing else is wrong with it.
    assertThat(findings).hasSizeGreaterThanOrEqualTo(14);
    assertThat(findings)
        .filteredOn(finding -> finding.level() == Level.FAIL)
        .singleElement()
        .satisfies(finding -> {
          assertThat(finding.check()).isEqualTo("durability");
          assertThat(finding.detail()).contains("fsync");
          assertThat(finding.remedy().orElseThrow()).contains("to on");
        });
    assertThat(Finding.worst(findings)).isEqualTo(Level.FAIL);
  }

  @Test
  void a_database_that_cannot_be_reached_is_the_only_finding() {
    PGSimpleDataSource nowhere = new PGSimpleDataSource();
    nowhere.setUrl("jdbc:postgresql://127.0.0.1:1/nowhere?user=u&password=secret");

    List<Finding> findings = Holdfast.on(nowhere).doctor(InstantSource.system()).examine();

    assertThat(findings)
        .singleElement()
        .satisfies(finding -> {
          assertThat(finding.level()).isEqualTo(Level.FAIL);
          assertThat(finding.detail()).contains("cannot be reached").doesNotContain("secret");
        });
  }

  @Test
  void a_check_that_cannot_be_made_is_a_finding_too() {
    Check broken =
        new Check() {
          @Override
          public String name() {
            return "broken";
          }

          @Override
          public Finding look() {
            throw new HoldfastException(ErrorCode.DATABASE, "gone in the middle");
          }
        };

    Finding finding = Doctor.examine(broken);

    assertThat(finding.check()).isEqualTo("broken");
    assertThat(finding.level()).isEqualTo(Level.FAIL);
    assertThat(finding.detail()).isEqualTo("gone in the middle");
  }

  @Test
  void one_that_takes_no_writes_is_found_out() {
    assertThat(new Writable(with("default_transaction_read_only=on")).look().level())
        .isEqualTo(Level.FAIL);
    assertThat(new Writable(tenants.control()).look().level()).isEqualTo(Level.OK);
  }

  @Test
  void settings_of_sessions_that_do_not_fit_are_named() {
    Finding finding =
        new SessionSettings(with("idle_session_timeout=60000 -c statement_timeout=5000")).look();

    assertThat(finding.level()).isEqualTo(Level.WARN);
    assertThat(finding.detail())
        .contains("idle_session_timeout is 60000 ms", "statement_timeout is 5000 ms");
    assertThat(new SessionSettings(tenants.control()).look().level()).isEqualTo(Level.OK);
  }

  @Test
  void a_clock_that_is_behind_is_noticed() {
    Finding finding =
        new ClockDifference(tenants.control(), () -> Instant.now().minusSeconds(60)).look();

    assertThat(finding.level()).isEqualTo(Level.WARN);
    assertThat(finding.detail()).containsPattern("\\+(59|60|61)\\.\\d+ s");
  }

  @Test
  void connections_that_others_get_between_transactions_are_found_out() throws SQLException {
    try (Connection only = database.getConnection()) {
      Db pooled = OneConnection.shared(only, tenants);

      assertThat(new PoolerCheck(pooled).look().level()).isEqualTo(Level.WARN);
    }
    assertThat(new PoolerCheck(tenants.control()).look().level())
        .isEqualTo(Boolean.getBoolean(TestDatabase.BOUNCER_PROPERTY) ? Level.WARN : Level.OK);
  }

  @Test
  void a_transaction_that_is_open_for_long_is_named() throws SQLException {
    try (Connection open = database.getConnection()) {
      open.setAutoCommit(false);
      try (Statement statement = open.createStatement()) {
        statement.execute("SELECT 1");

        Finding finding =
            new OldestTransaction(tenants.control(), Duration.ZERO, Duration.ofDays(1)).look();

        assertThat(finding.level()).isEqualTo(Level.WARN);
        assertThat(finding.detail()).containsPattern("process \\d+ has been open for");
      }
      open.rollback();
      open.setAutoCommit(true);
    }
  }

  @Test
  void dead_rows_that_pile_up_are_named_with_their_table() throws SQLException {
    execute(
        """
        ALTER TABLE %1$s_default.audit SET (autovacuum_enabled = off);
        INSERT INTO %1$s_default.audit (at, actor, act) SELECT now(), 'a', 'b' FROM generate_series(1, 100);
        DELETE FROM %1$s_default.audit;
        SELECT pg_stat_force_next_flush();
        """
            .formatted(schema));

    Finding finding = new DeadRows(tenants, 50).look();

    assertThat(finding.level()).isEqualTo(Level.WARN);
    assertThat(finding.detail()).contains(schema + "_default.audit: 100 dead");
    assertThat(new DeadRows(tenants).look().level()).isEqualTo(Level.OK);
  }

  @Test
  void connections_and_transaction_ids_that_run_out_are_first_a_warning() {
    ConnectionsLeft connections = new ConnectionsLeft(tenants.control());
    TransactionIds ids = new TransactionIds(tenants.control());

    assertThat(connections.judged(79, 100).level()).isEqualTo(Level.OK);
    assertThat(connections.judged(80, 100).level()).isEqualTo(Level.WARN);
    assertThat(connections.judged(95, 100).level()).isEqualTo(Level.FAIL);
    assertThat(connections.look().detail()).containsPattern("\\d+ of \\d+ in use");
    assertThat(ids.judged(400_000_000).level()).isEqualTo(Level.OK);
    assertThat(ids.judged(600_000_000).level()).isEqualTo(Level.WARN);
    assertThat(ids.judged(1_600_000_000).level()).isEqualTo(Level.FAIL);
  }

  @Test
  void tables_of_another_version_are_told_apart() throws SQLException {
    SchemaVersions check = new SchemaVersions(tenants);

    execute("INSERT INTO %s_default.migration VALUES (99, 'later')".formatted(schema));
    assertThat(check.look().level()).isEqualTo(Level.WARN);
    execute("UPDATE %s_default.migration SET breaking = true WHERE version = 99".formatted(schema));
    assertThat(check.look().remedy().orElseThrow()).contains("upgrade this Holdfast");
    execute("DELETE FROM %s_default.migration WHERE version > 1".formatted(schema));
    assertThat(check.look())
        .satisfies(finding -> {
          assertThat(finding.level()).isEqualTo(Level.FAIL);
          assertThat(finding.detail()).contains(schema + "_default is at 1");
          assertThat(finding.remedy().orElseThrow()).contains("holdfast migrate");
        });
  }

  @Test
  void what_must_never_be_is_a_failure() throws SQLException {
    execute(
        """
        INSERT INTO %1$s_default.resource (name) VALUES ('site:1');
        INSERT INTO %1$s_default.hold VALUES ('site:1', gen_random_uuid(), 1, now());
        """
            .formatted(schema));

    Finding finding = new InvariantsHold(tenants).look();

    assertThat(finding.level()).isEqualTo(Level.FAIL);
    assertThat(finding.detail()).contains("default I6");
  }

  @Test
  void queues_in_which_jobs_wait_for_nobody_are_named() {
    holdfast.jobs().enqueue(NewJob.of("x", 1).withQueue("lonely"));
    holdfast.jobs().enqueue(NewJob.of("x", 1).withQueue("halted"));
    holdfast.queues().put("halted", QueueSettings.DEFAULTS.withPaused(true));

    Finding finding = new QueuesServed(tenants, holdfast::queues).look();

    assertThat(finding.level()).isEqualTo(Level.WARN);
    assertThat(finding.detail())
        .contains(TenantName.DEFAULT + "/lonely: 1 jobs wait, and no worker that claims is online")
        .contains("/halted: 1 jobs wait, and it is paused");
  }

  @Test
  void a_worker_that_drains_serves_no_queue() {
    holdfast.jobs().enqueue(NewJob.of("x", 1));
    WorkerInfo info =
        new WorkerInfo(
            "w", "here", Map.of(), Optional.empty(), Set.of("default"), Optional.empty());
    new Presence(tenants.control(), () -> info, Optional::empty).beat();
    QueuesServed check = new QueuesServed(tenants, holdfast::queues);
    assertThat(check.look().level()).isEqualTo(Level.OK);

    tenants
        .control()
        .useHandle(handle -> holdfast.workers().drain(handle, TenantName.DEFAULT, "w", true, true));

    assertThat(check.look().level()).isEqualTo(Level.WARN);
    assertThat(check.look().detail()).contains("default/default: 1 jobs wait");
  }

  private Db with(String options) {
    PGSimpleDataSource changed = new PGSimpleDataSource();
    changed.setUrl(TestDatabase.shared().jdbcUrl());
    changed.setOptions("-c " + options);
    return Holdfast.builder(changed).controlSchema(schema).build().tenants().control();
  }

  private void execute(String sql) throws SQLException {
    try (Connection connection = database.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }
}
