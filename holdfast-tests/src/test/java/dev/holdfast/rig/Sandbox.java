package dev.holdfast.rig;

import dev.holdfast.codec.JacksonCodec;
import dev.holdfast.fleet.Workers;
import dev.holdfast.hold.Resources;
import dev.holdfast.lease.TransitionHook;
import dev.holdfast.queue.Acts;
import dev.holdfast.queue.Jobs;
import dev.holdfast.queue.Queues;
import dev.holdfast.queue.WhyNot;
import dev.holdfast.schedule.Schedules;
import dev.holdfast.tenant.SchemaName;
import dev.holdfast.tenant.Tenant;
import dev.holdfast.tenant.TenantName;
import dev.holdfast.tenant.Tenants;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.wake.Announcer;
import dev.holdfast.wake.Bell;
import dev.holdfast.wake.Channel;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;

/**
 * A tenant that one thread uses over and over, on a connection of its own, with a clock that stands
 * still until it is set. Emptied between uses; only its lanes stay.
 */
public final class Sandbox implements AutoCloseable {

  private static final AtomicInteger NUMBER = new AtomicInteger();

  private static final SchemaName CONTROL = new SchemaName("holdfast");

  private static final List<String> TABLES =
      List.of(
          "job",
          "job_done",
          "hold",
          "block",
          "reservation",
          "resource",
          "attempt",
          "claim",
          "audit",
          "subject",
          "job_log",
          "job_item",
          "idempotency",
          "queue",
          "outbox",
          "slot",
          "schedule");

  // A setting, because a function made anew at each step would have every plan made anew.
  private static final String CLOCK =
      """
      CREATE OR REPLACE FUNCTION {schema}.clock() RETURNS timestamptz
        LANGUAGE sql STABLE PARALLEL SAFE
        AS 'SELECT current_setting(''holdfast_rig.now'')::timestamptz'
      """;

  // A rig runs the same statements on the same few rows; to plan them anew costs more than to run
  // them.
  private static final String PLAN_ONCE = "SET plan_cache_mode = force_generic_plan";

  private static final int RESETS_PER_VACUUM = 25;

  private final Tampering tampering;
  private final RigConnection connection;
  private final Tenant tenant;
  private final Announcer announcer;
  private final Jobs jobs;
  private final Acts acts;
  private final Resources resources;
  private int resets;

  public Sandbox(String prefix, UnaryOperator<String> rewrite) throws SQLException {
    this(prefix, Tampering.unwatched(rewrite), UnaryOperator.identity());
  }

  /**
   * Of an engine that is tampered with.
   *
   * @param own what the rig does to statements for its own sake
   */
  public Sandbox(String prefix, Tampering tampering, UnaryOperator<String> own)
      throws SQLException {
    this.tampering = tampering;
    TenantName name = new TenantName(prefix + "_" + NUMBER.incrementAndGet());
    TestDatabase database = TestDatabase.shared();
    database.holdfast().tenants().create(name);
    connection = new RigConnection(database.jdbcUrl(), tampering, own, Optional.empty());
    Tenants tenants = new Tenants(connection, CONTROL);
    tenant = tenants.tenant(name);
    announcer = new Announcer(tenants.control(), Channel.of(CONTROL), new Bell(), false);
    jobs =
        new Jobs(
            tenant,
            new JacksonCodec(),
            announcer,
            new WhyNot(tenant, new Workers(tenants.control())));
    acts = new Acts(tenant, new JacksonCodec(), announcer, TransitionHook.NONE);
    resources = new Resources(tenant, announcer);
    setClock(Instant.EPOCH);
    execute(PLAN_ONCE);
    furnish();
  }

  private void furnish() throws SQLException {
    execute(CLOCK);
    for (String ddl : tampering.ddl()) {
      execute(ddl);
    }
  }

  public Tampering tampering() {
    return tampering;
  }

  public Tenant tenant() {
    return tenant;
  }

  public Jobs jobs() {
    return jobs;
  }

  public Acts acts() {
    return acts;
  }

  public Resources resources() {
    return resources;
  }

  public Queues queues() {
    return new Queues(tenant, announcer);
  }

  /**
   * Drops the tenant and makes it anew, while those who use it go on as if nothing had happened.
   */
  public void remake() throws SQLException {
    Tenants tenants = TestDatabase.shared().holdfast().tenants();
    tenants.drop(tenant.name());
    tenants.create(tenant.name());
    furnish();
  }

  public Schedules schedules() {
    return new Schedules(tenant, new JacksonCodec(), jobs, resources);
  }

  public Connection connection() throws SQLException {
    return connection.getConnection();
  }

  public String sql(String template) {
    return tenant.db().sql(template);
  }

  public void setClock(Instant now) throws SQLException {
    execute("SET holdfast_rig.now = '" + now + "'");
  }

  /** As if nothing had ever been enqueued. Deletes, because truncating costs a file per index. */
  public void empty() throws SQLException {
    StringBuilder deletes = new StringBuilder();
    TABLES.forEach(table -> deletes.append("DELETE FROM {schema}.").append(table).append(";"));
    execute(deletes.toString());
    if (++resets % RESETS_PER_VACUUM == 0) {
      for (String table : TABLES) {
        execute("VACUUM {schema}." + table);
      }
    }
  }

  /** What is no part of the engine's own: tests sabotage their tenant by it. */
  public void execute(String sql) throws SQLException {
    try (Statement statement = connection().createStatement()) {
      statement.execute(tenant.db().sql(sql));
    }
  }

  @Override
  public void close() throws SQLException {
    connection.close();
    TestDatabase.shared().holdfast().tenants().drop(tenant.name());
  }
}
