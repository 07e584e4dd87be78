package dev.holdfast.fault;

import dev.holdfast.Holdfast;
import dev.holdfast.audit.Act;
import dev.holdfast.invariant.Invariants;
import dev.holdfast.job.NewJob;
import dev.holdfast.lease.ClaimRequest;
import dev.holdfast.lease.Lease;
import dev.holdfast.rig.Invariant;
import dev.holdfast.rig.RigConnection;
import dev.holdfast.tenant.SchemaName;
import dev.holdfast.tenant.TenantName;
import dev.holdfast.tenant.Tenants;
import dev.holdfast.testkit.TestDatabase;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import javax.sql.DataSource;

/**
 * A tenant that is set up, looked at and emptied by a way on which nothing goes wrong. Its clock
 * stands still until it is set, and no other test knows of it: somebody else's round over all
 * tenants would be one more thing that happens.
 */
final class Ground implements AutoCloseable {

  static final Act ADA = Act.by("ada");
  static final String WORKER = "worker-1";

  private static final AtomicInteger NUMBER = new AtomicInteger();
  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
  private static final int RESTORES_PER_VACUUM = 50;

  private static final List<String> TABLES =
      List.of(
          "job",
          "job_done",
          "lane",
          "queue",
          "hold",
          "block",
          "reservation",
          "resource",
          "subject",
          "attempt",
          "claim",
          "job_log",
          "job_item",
          "idempotency",
          "audit",
          "schedule",
          "slot",
          "outbox",
          "agent",
          "agent_job",
          "effect");

  private static final List<String> CONTROL_TABLES =
      List.of("worker", "outage", "reached", "dropped_tenant");

  // The clock is a row, because all connections must see the same time. Somebody wants to be told
  // of whatever there is to tell, so that what is not told is missed.
  private static final String MAKE =
      """
      CREATE TABLE {schema}.effect (job_id uuid NOT NULL);
      INSERT INTO {schema}.webhook (name, url, events, secret)
      VALUES ('ops', 'http://127.0.0.1/', '{job_failed,slot_missed}', 's3cret');
      CREATE TABLE {schema}.rig_clock (now timestamptz NOT NULL);
      INSERT INTO {schema}.rig_clock VALUES (now());
      CREATE OR REPLACE FUNCTION {schema}.clock() RETURNS timestamptz
        LANGUAGE sql STABLE PARALLEL SAFE
        AS 'SELECT now FROM {schema}.rig_clock';
      """;

  private static final String SAVE = "INSERT INTO {schema}.saved_%1$s SELECT * FROM %2$s";
  private static final String RESTORE =
      "INSERT INTO %2$s OVERRIDING SYSTEM VALUE SELECT * FROM {schema}.saved_%1$s";

  // As the migration leaves it: nobody has come yet.
  private static final String UNREACHED =
      "INSERT INTO {control}.reached (at, late) VALUES ('epoch', 0)";

  private static final TenantName NAME = new TenantName("ground");

  private final SchemaName control = new SchemaName("faults_" + NUMBER.incrementAndGet());
  private final RigConnection connection;
  private Engine engine;
  private final Invariants invariants;
  private final String picture;
  private final String violations;
  private Instant now = START;
  private Instant saved = START;
  private int restores;

  Ground() throws SQLException {
    Tenants tenants = holdfast(TestDatabase.shared().dataSource()).tenants();
    tenants.migrate();
    tenants.create(NAME);
    connection = new RigConnection(url(), UnaryOperator.identity());
    engine = engine(connection);
    invariants = new Invariants(engine.tenant());
    picture = pictureOfAll();
    violations =
        engine.sql(
            "SELECT invariant || ': ' || how FROM (" + Invariant.allViolations() + ") AS every");
    execute(MAKE);
    Stream.concat(tables(), Stream.of("rig_clock")).forEach(this::makeRoomToSave);
    execute(procedure("save", "DELETE FROM {schema}.saved_%1$s", SAVE));
    execute(procedure("restore", "DELETE FROM %2$s", RESTORE));
  }

  /** Those that the engine writes. */
  private static Stream<String> tables() {
    return Stream.concat(TABLES.stream(), CONTROL_TABLES.stream());
  }

  private static String place(String table) {
    return (CONTROL_TABLES.contains(table) ? "{control}." : "{schema}.") + table;
  }

  private void makeRoomToSave(String table) {
    execute("CREATE TABLE {schema}.saved_%s (LIKE %s)".formatted(table, place(table)));
  }

  // Procedures, because their statements are planned once.
  private static String procedure(String name, String... statementsPerTable) {
    StringBuilder sql = new StringBuilder("CREATE PROCEDURE {schema}.rig_" + name + "()");
    sql.append(" LANGUAGE plpgsql AS $$ BEGIN\n");
    for (String statement : statementsPerTable) {
      Stream.concat(tables(), Stream.of("rig_clock"))
          .forEach(table -> sql.append(statement.formatted(table, place(table))).append(";\n"));
    }
    return sql.append("END $$").toString();
  }

  private static String pictureOfAll() {
    StringBuilder sql = new StringBuilder("SELECT line FROM (");
    for (String table : tables().toList()) {
      boolean isJob = table.equals("job") || table.equals("job_done");
      sql.append(sql.toString().endsWith("(") ? "" : " UNION ALL ")
          .append(
              "SELECT %s AS place, '%s ' || jsonb_strip_nulls(to_jsonb(%s))::text AS line FROM %s"
                  .formatted(isJob ? "seq" : "9e15::bigint", table, table, place(table)));
    }
    // A lane's own id by the name that others call it; revisions count what was said. A sequence
    // is not set back, so that each raising begins where the last one ended. The control tables
    // have the server's time: of that, no more than whether it was written.
    return sql.toString()
            .replace(
                "to_jsonb(lane)", "(to_jsonb(lane) - 'id' || jsonb_build_object('lane_id', id))")
            .replace("to_jsonb(agent_job)", "(to_jsonb(agent_job) - 'revision')")
            .replace(
                "to_jsonb(claim)",
                "(to_jsonb(claim) || jsonb_build_object('fences', cardinality(fences) || ' jobs'))")
            .replace(
                "to_jsonb(audit)",
                "(CASE act WHEN 'raise_fences' THEN to_jsonb(audit) - '{before,after}'::text[]"
                    + " ELSE to_jsonb(audit) END)")
            .replace(
                "to_jsonb(worker)",
                "(to_jsonb(worker) - '{started_at,beat_at}'::text[]"
                    + " || jsonb_build_object('drain_requested_at', drain_requested_at <= now()))")
            .replace(
                "to_jsonb(outage)",
                "jsonb_build_object('since', nullif(since, 'epoch') <= now(), 'until', until <= now())")
            .replace(
                "to_jsonb(reached)",
                "(to_jsonb(reached) || jsonb_build_object('at', nullif(at, 'epoch') <= now()))")
            .replace("to_jsonb(dropped_tenant)", "(to_jsonb(dropped_tenant) - 'dropped_at')")
        + ") AS every ORDER BY place, line";
  }

  /** Plans are made once per connection: there are never rows enough for another one. */
  static String url() {
    String url = TestDatabase.shared().jdbcUrl();
    return url
        + (url.contains("?") ? "&" : "?")
        + "prepareThreshold=1&options=-c%20plan_cache_mode=force_generic_plan";
  }

  TenantName tenant() {
    return NAME;
  }

  /** All that knows of this tenant, by these connections. */
  Holdfast holdfast(DataSource dataSource) {
    return Holdfast.builder(dataSource).controlSchema(control.value()).build();
  }

  Engine engine(DataSource dataSource) {
    return Engine.on(dataSource, control, NAME);
  }

  /** An engine that nothing is wrong with, for what comes before and after. */
  Engine engine() {
    return engine;
  }

  Instant now() {
    return now;
  }

  static UUID id(String name) {
    return UUID.nameUUIDFromBytes(name.getBytes(StandardCharsets.UTF_8));
  }

  static NewJob job(String name) {
    return NewJob.of("work", name).withId(id(name));
  }

  /** Stores jobs, each known by its name. */
  Ground enqueue(NewJob... jobs) {
    for (NewJob each : jobs) {
      engine.jobs().enqueue(each);
    }
    return this;
  }

  /** Leases all that can be had; the others are parked. */
  List<Lease> claim() {
    return engine.leases().claim(request()).leases();
  }

  /** Enqueues and leases one job. */
  Lease running(NewJob job) {
    enqueue(job);
    return claim().stream()
        .filter(lease -> job.id().equals(Optional.of(lease.key().jobId())))
        .findFirst()
        .orElseThrow();
  }

  static ClaimRequest request() {
    return ClaimRequest.of(WORKER, Set.of("default", "limited"), 10).thoroughly();
  }

  Ground later(int seconds) {
    now = now.plusSeconds(seconds);
    execute("UPDATE {schema}.rig_clock SET now = '" + now + "'");
    return this;
  }

  /** As if nothing had ever been enqueued; only the lanes stay, which others remember. */
  void empty() {
    tables()
        .filter(table -> !table.equals("lane"))
        .forEach(table -> execute("DELETE FROM " + place(table)));
    execute(UNREACHED);
    now = START;
    later(0);
    engine = engine(connection); // one that remembers nothing
  }

  /** Remembers all rows and the time, as they are now. */
  void save() {
    execute("CALL {schema}.rig_save()");
    saved = now;
  }

  /** All rows, and the time, as they were saved. */
  void restore() {
    execute("CALL {schema}.rig_restore()");
    now = saved;
    if (++restores % RESTORES_PER_VACUUM == 0) {
      tables().forEach(table -> execute("VACUUM " + place(table)));
    }
  }

  void execute(String sql) {
    try (Statement statement = connection.getConnection().createStatement()) {
      statement.execute(rendered(sql));
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  private String rendered(String sql) {
    return engine.sql(sql.replace("{control}", control.value()));
  }

  Picture picture() {
    return Picture.of(column(picture));
  }

  List<String> violations() {
    List<String> found = new ArrayList<>(column(violations));
    invariants.check().forEach(violation -> found.add(violation.toString()));
    return found;
  }

  long deadlocks() {
    return invariants.deadlocks();
  }

  List<String> column(String sql) {
    List<String> found = new ArrayList<>();
    try (PreparedStatement statement = connection.getConnection().prepareStatement(rendered(sql));
        ResultSet rows = statement.executeQuery()) {
      while (rows.next()) {
        found.add(rows.getString(1));
      }
      return found;
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() throws SQLException {
    connection.close();
    holdfast(TestDatabase.shared().dataSource()).tenants().drop(NAME);
    try (Connection last = TestDatabase.shared().dataSource().getConnection();
        Statement statement = last.createStatement()) {
      statement.execute("DROP SCHEMA " + control.value() + " CASCADE");
    }
  }
}
