package dev.holdfast.tenant;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Holdfast;
import dev.holdfast.fleet.Presence;
import dev.holdfast.fleet.WorkerInfo;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Kind;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Progress;
import dev.holdfast.queue.QueueSettings;
import dev.holdfast.reap.Reaper;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.worker.Worker;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.random.RandomGenerator;
import javax.sql.DataSource;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;

/** What an application can do whose role was given the grants of {@link Migrator} and no more. */
class GrantsTest {

  private static final AtomicInteger NUMBER = new AtomicInteger();
  private static final Kind<String> EMAIL = Kind.of("email", String.class);

  // A control schema of its own: granting on a shared one from several tests at once collides.
  private final SchemaName control = new SchemaName("grants_" + NUMBER.incrementAndGet());
  private final SchemaName role = new SchemaName(control.value() + "_role");
  private final Jdbi owner = Jdbi.create(TestDatabase.shared().dataSource());
  private final Holdfast app = Holdfast.builder(as(role)).controlSchema(control.value()).build();
  private SchemaName tenantSchema;

  @BeforeEach
  void grant() {
    Holdfast.builder(TestDatabase.shared().dataSource())
        .controlSchema(control.value())
        .build()
        .migrate();
    tenantSchema = app.tenants().schemaOf(TenantName.DEFAULT);
    owner.useHandle(handle -> {
      handle.execute("CREATE ROLE " + role.value() + " LOGIN");
      handle.createScript(Migrator.grants(control, role)).execute();
      handle.createScript(Migrator.grants(tenantSchema, role)).execute();
    });
  }

  @AfterEach
  void dropAll() {
    owner.useHandle(handle -> {
      handle.execute("DROP SCHEMA " + tenantSchema.value() + " CASCADE");
      handle.execute("DROP SCHEMA " + control.value() + " CASCADE");
      handle.execute("DROP OWNED BY " + role.value());
      handle.execute("DROP ROLE " + role.value());
    });
  }

  @Test
  void it_can_enqueue_one_many_and_unique_ones() {
    var one = app.jobs().enqueue(EMAIL.job("ada"));
    var many = app.jobs().enqueueAll(Collections.nCopies(10, EMAIL.job("ada")));
    var unique = app.jobs().enqueue(EMAIL.job("ada").withUniqueKey("ada"));
    var again = app.jobs().enqueue(EMAIL.job("ada").withUniqueKey("ada"));

    assertThat(one.created()).isTrue();
    assertThat(many).hasSize(10).allMatch(enqueued -> enqueued.created());
    assertThat(again.id()).isEqualTo(unique.id());
    assertThat(again.created()).isFalse();
  }

  @Test
  void it_can_run_jobs_with_a_started_worker() throws Exception {
    CountDownLatch ran = new CountDownLatch(10);
    try (Worker worker =
        app.worker()
            .handle(
                EMAIL,
                (to, job) -> {
                  job.log("sent");
                  job.progress(Progress.NONE.withPercent(50));
                  job.checkpoint("half");
                  ran.countDown();
                })
            .start()) {
      app.jobs().enqueueAll(Collections.nCopies(10, EMAIL.job("ada")));
      ran.await();
    }
    assertThat(count("SELECT count(*) FROM {schema}.job_done WHERE state = 'succeeded'"))
        .isEqualTo(10);
  }

  @Test
  void it_can_retry_reap_and_read() {
    var failing = app.jobs().enqueue(EMAIL.job("ada")).id();
    app.worker()
        .handle(
            EMAIL,
            (to, job) -> {
              throw new IllegalStateException("no such address");
            })
        .build()
        .runDue();
    var silent = app.jobs().enqueue(EMAIL.job("ada")).id();
    owner.useHandle(handle ->
        handle.execute(
            tenantSchema.render(
                """
                UPDATE {schema}.job
                   SET state = 'running', worker = 'gone', attempt = 1, fence = 1,
                       started_at = now(), lease_expires_at = now() - interval '1 minute'
                 WHERE id = ?
                """),
            silent));

    int reaped =
        new Reaper(app.tenants().open(TenantName.DEFAULT), RandomGenerator.getDefault(), () -> {})
            .runOnce();

    assertThat(reaped).isEqualTo(1);
    assertThat(app.jobs().get(silent).orElseThrow().state()).isEqualTo(JobState.QUEUED);
    assertThat(app.jobs().attempts(failing)).hasSize(1);
    assertThat(app.jobs().attempts(silent)).hasSize(1);
    assertThat(app.jobs().log(failing)).isEmpty();
    assertThat(count("SELECT count(*) FROM {schema}.jobs")).isEqualTo(2);
  }

  @Test
  void it_can_show_itself_and_configure_queues() {
    Presence presence =
        new Presence(
            app.tenants().control(),
            () ->
                new WorkerInfo(
                    "worker",
                    "host",
                    Map.of(),
                    Optional.empty(),
                    Set.of("default"),
                    Optional.empty()),
            Optional::empty);

    presence.beat(); // a beat sees those before it
    presence.beat();
    app.queues().put("mail", QueueSettings.DEFAULTS.withPaused(true));

    assertThat(presence.hostsOf(TenantName.DEFAULT).online()).containsExactly("host");
    presence.leave();
    assertThat(app.queues().get("mail").paused()).isTrue();
    assertThat(app.jobs().enqueue(NewJob.of("email", "ada").withQueue("mail")).created()).isTrue();
  }

  @Test
  void it_can_look_whether_all_is_as_it_must_be() {
    app.jobs().enqueue(EMAIL.job("ada"));
    app.worker().handle(EMAIL, (to, job) -> {}).build().runDue();

    assertThat(app.invariants().check()).isEmpty();
    assertThat(app.invariants().deadlocks()).isNotNegative();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "CREATE TABLE {schema}.mine (id integer)",
        "CREATE VIEW {schema}.mine AS SELECT 1 AS one",
        "CREATE FUNCTION {schema}.mine() RETURNS integer LANGUAGE sql AS 'SELECT 1'",
        "CREATE OR REPLACE FUNCTION {schema}.clock() RETURNS timestamptz LANGUAGE sql STABLE AS"
            + " 'SELECT now()'",
        "CREATE INDEX mine ON {schema}.job (created_at)",
        "ALTER TABLE {schema}.job ADD COLUMN mine integer",
        "ALTER TABLE {schema}.job DROP CONSTRAINT job_lease_belongs_to_state",
        "ALTER SEQUENCE {schema}.fence RESTART",
        "SELECT setval('{schema}.fence', 1)",
        "TRUNCATE {schema}.job",
        "DROP TABLE {schema}.job",
        "DROP SCHEMA {schema} CASCADE",
        "CREATE SCHEMA mine"
      })
  void it_cannot_change_the_schema(String ddl) {
    Jdbi asRole = Jdbi.create(as(role));

    assertThatThrownBy(() ->
            asRole.useHandle(handle -> handle.createScript(tenantSchema.render(ddl)).execute()))
        .rootCause()
        .hasMessageMatching("(?s)ERROR: (permission denied|must be owner).*");
  }

  private long count(String sql) {
    return Jdbi.create(as(role))
        .withHandle(handle -> handle.createQuery(tenantSchema.render(sql)).mapTo(Long.class).one());
  }

  private static DataSource as(SchemaName role) {
    PGSimpleDataSource source = new PGSimpleDataSource();
    source.setUrl(TestDatabase.shared().jdbcUrl());
    source.setUser(role.value());
    return source;
  }
}
