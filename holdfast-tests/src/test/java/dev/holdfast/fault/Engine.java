package dev.holdfast.fault;

import dev.holdfast.codec.JacksonCodec;
import dev.holdfast.fleet.Workers;
import dev.holdfast.hold.Resources;
import dev.holdfast.lease.LanePositions;
import dev.holdfast.lease.PgLeases;
import dev.holdfast.lease.TransitionHook;
import dev.holdfast.queue.Acts;
import dev.holdfast.queue.Jobs;
import dev.holdfast.queue.Queues;
import dev.holdfast.queue.WhyNot;
import dev.holdfast.reap.Reaper;
import dev.holdfast.schedule.Schedules;
import dev.holdfast.schedule.Ticker;
import dev.holdfast.tenant.SchemaName;
import dev.holdfast.tenant.Tenant;
import dev.holdfast.tenant.TenantName;
import dev.holdfast.tenant.Tenants;
import dev.holdfast.wake.Announcer;
import dev.holdfast.wake.Bell;
import dev.holdfast.wake.Channel;
import java.sql.SQLException;
import java.util.Set;
import javax.sql.DataSource;

/**
 * The engine for one tenant on one source of connections. What a worker does goes by a connection
 * that is kept, as in a worker. Without dice: what is left to chance is always the same.
 */
final class Engine implements AutoCloseable {

  private final DataSource dataSource;
  private final Tenants tenants;
  private final Tenants kept;
  private final Tenant tenant;
  private final Announcer announcer;
  private final PgLeases leases;
  private final Reaper reaper;
  private final Acts acts;
  private final Jobs jobs;

  private Engine(DataSource dataSource, SchemaName control, TenantName name) {
    this.dataSource = dataSource;
    this.tenants = new Tenants(dataSource, control);
    this.kept = tenants.keepingAConnection();
    this.tenant = tenants.tenant(name);
    this.announcer = new Announcer(tenants.control(), Channel.of(control), new Bell(), true);
    this.leases =
        new PgLeases(kept.tenant(name), Set::of, new LanePositions(() -> 0), () -> 0, () -> {});
    this.reaper = new Reaper(kept.tenant(name), () -> 0, () -> {});
    this.acts = new Acts(tenant, new JacksonCodec(), announcer, TransitionHook.NONE);
    this.jobs =
        new Jobs(
            tenant,
            new JacksonCodec(),
            announcer,
            new WhyNot(tenant, new Workers(tenants.control())));
  }

  static Engine on(DataSource dataSource, SchemaName control, TenantName name) {
    return new Engine(dataSource, control, name);
  }

  /** As in a worker that has started. */
  Engine keepingAConnection() {
    kept.keepConnection();
    return this;
  }

  DataSource dataSource() {
    return dataSource;
  }

  Tenants tenants() {
    return tenants;
  }

  Tenant tenant() {
    return tenant;
  }

  String sql(String template) {
    return tenant.db().sql(template);
  }

  Jobs jobs() {
    return jobs;
  }

  Acts acts() {
    return acts;
  }

  Resources resources() {
    return new Resources(tenant, announcer);
  }

  Queues queues() {
    return new Queues(tenant, announcer);
  }

  Schedules schedules() {
    return new Schedules(tenant, new JacksonCodec(), jobs, resources());
  }

  Ticker ticker() {
    return new Ticker(tenant, new JacksonCodec(), jobs, acts);
  }

  PgLeases leases() {
    return leases;
  }

  Reaper reaper() {
    return reaper;
  }

  @Override
  public void close() throws SQLException {
    kept.close();
  }
}
