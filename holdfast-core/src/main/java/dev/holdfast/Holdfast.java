package dev.holdfast;

import dev.holdfast.audit.Audit;
import dev.holdfast.codec.Codec;
import dev.holdfast.codec.JacksonCodec;
import dev.holdfast.fleet.Hosts;
import dev.holdfast.fleet.Predecessors;
import dev.holdfast.fleet.Presence;
import dev.holdfast.fleet.WorkerInfo;
import dev.holdfast.fleet.Workers;
import dev.holdfast.hold.Resources;
import dev.holdfast.invariant.Invariants;
import dev.holdfast.lease.Consequences;
import dev.holdfast.lease.LanePositions;
import dev.holdfast.lease.LeaseSource;
import dev.holdfast.lease.PgLeases;
import dev.holdfast.lease.Reaper;
import dev.holdfast.lease.Reapers;
import dev.holdfast.lease.Steadiness;
import dev.holdfast.lease.TenantRotation;
import dev.holdfast.lease.TransitionHook;
import dev.holdfast.queue.Acts;
import dev.holdfast.queue.Jobs;
import dev.holdfast.queue.Queues;
import dev.holdfast.queue.WhyNot;
import dev.holdfast.retention.Retention;
import dev.holdfast.schedule.Scheduler;
import dev.holdfast.schedule.Schedules;
import dev.holdfast.schedule.Ticker;
import dev.holdfast.subject.Subjects;
import dev.holdfast.tenant.SchemaName;
import dev.holdfast.tenant.Tenant;
import dev.holdfast.tenant.TenantName;
import dev.holdfast.tenant.Tenants;
import dev.holdfast.wake.Announcer;
import dev.holdfast.wake.Bell;
import dev.holdfast.wake.Channel;
import dev.holdfast.wake.Listener;
import dev.holdfast.worker.Surroundings;
import dev.holdfast.worker.Surroundings.Background;
import dev.holdfast.worker.WorkerBuilder;
import dev.holdfast.worker.WorkerConfig;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where everything begins: one Holdfast on one database. It wires the parts and hands them out; it
 * has no threads and nothing to close, workers do. Thread-safe.
 */
public final class Holdfast {

  private static final Logger log = LoggerFactory.getLogger(Holdfast.class);

  // How soon a silent worker's jobs are taken, a new tenant is served, an absent host is noticed.
  private static final Duration UPKEEP_PERIOD = Duration.ofSeconds(5);

  private final DataSource dataSource;
  private final Tenants tenants;
  private final Codec codec;
  private final TransitionHook hook;
  private final Retention retention;
  private final Bell bell = new Bell();
  private final Channel channel;
  private final Announcer announcer;
  private final Map<TenantName, Jobs> jobs = new ConcurrentHashMap<>();

  private Holdfast(Builder builder) {
    this.dataSource = builder.dataSource;
    this.codec = builder.codec;
    this.hook = builder.hook;
    this.retention = builder.retention;
    this.tenants = new Tenants(dataSource, builder.controlSchema);
    this.channel = Channel.of(builder.controlSchema);
    this.announcer = new Announcer(tenants.control(), channel, bell, builder.notifyInTransactions);
  }

  /**
   * With all defaults. A worker keeps three connections of the pool to itself (for heartbeats, for
   * notifications, for the rest), so give the pool five or more.
   */
  public static Holdfast on(DataSource dataSource) {
    return builder(dataSource).build();
  }

  public static Builder builder(DataSource dataSource) {
    return new Builder(dataSource);
  }

  /** Creates or upgrades all tables, the default tenant's among them. Needs DDL rights. */
  public Holdfast migrate() {
    tenants.migrate();
    tenants.create(TenantName.DEFAULT);
    return this;
  }

  public Tenants tenants() {
    return tenants;
  }

  /** The default tenant's jobs. */
  public Jobs jobs() {
    return jobs(TenantName.DEFAULT);
  }

  public Jobs jobs(TenantName tenant) {
    return jobs.computeIfAbsent(
        tenant,
        name ->
            new Jobs(
                tenants.open(name),
                codec,
                announcer,
                new WhyNot(tenants.open(name), new Workers(tenants.control()))));
  }

  /** What people do to the default tenant's jobs. */
  public Acts acts() {
    return acts(TenantName.DEFAULT);
  }

  public Acts acts(TenantName tenant) {
    return new Acts(tenants.open(tenant), codec, announcer, hook);
  }

  /** The default tenant's resources. */
  public Resources resources() {
    return resources(TenantName.DEFAULT);
  }

  public Resources resources(TenantName tenant) {
    return new Resources(tenants.open(tenant), announcer);
  }

  /** The default tenant's subjects. */
  public Subjects subjects() {
    return subjects(TenantName.DEFAULT);
  }

  public Subjects subjects(TenantName tenant) {
    return new Subjects(tenants.open(tenant));
  }

  /** What people did in the default tenant. */
  public Audit audit() {
    return audit(TenantName.DEFAULT);
  }

  public Audit audit(TenantName tenant) {
    return new Audit(tenants.open(tenant));
  }

  /** Whether all is as it must be in the default tenant. */
  public Invariants invariants() {
    return invariants(TenantName.DEFAULT);
  }

  public Invariants invariants(TenantName tenant) {
    return new Invariants(tenants.open(tenant));
  }

  /** The default tenant's queues. */
  public Queues queues() {
    return queues(TenantName.DEFAULT);
  }

  public Queues queues(TenantName tenant) {
    return new Queues(tenants.open(tenant), announcer);
  }

  /** The default tenant's schedules. */
  public Schedules schedules() {
    return schedules(TenantName.DEFAULT);
  }

  public Schedules schedules(TenantName tenant) {
    return new Schedules(tenants.open(tenant), codec, jobs(tenant), resources(tenant));
  }

  /** Decides about the default tenant's slots, once it is started. */
  public Scheduler scheduler() {
    return scheduler(TenantName.DEFAULT);
  }

  public Scheduler scheduler(TenantName tenant) {
    Ticker ticker = ticker(tenant);
    return new Scheduler(() -> List.of(tenant), name -> ticker);
  }

  /** Decides about the slots of all tenants, also those created later. */
  public Scheduler schedulerForAllTenants() {
    return new Scheduler(tenants::list, this::ticker);
  }

  private Ticker ticker(TenantName tenant) {
    return new Ticker(tenants.open(tenant), jobs(tenant));
  }

  /** A worker for the default tenant. */
  public WorkerBuilder worker() {
    return worker(TenantName.DEFAULT);
  }

  public WorkerBuilder worker(TenantName name) {
    tenants.open(name);
    return new WorkerBuilder(codec, (config, kinds) -> surroundings(config, kinds, name));
  }

  /** A worker for all tenants, also those created later, each getting its fair share. */
  public WorkerBuilder workerForAllTenants() {
    return new WorkerBuilder(codec, this::surroundingsOfAll);
  }

  private Surroundings surroundings(WorkerConfig config, Set<String> kinds, TenantName name) {
    Tenants own = tenants.keepingAConnection();
    Tenants pulse = tenants.keepingAConnection();
    Presence presence = presence(own, config, kinds, Optional.of(name.value()));
    Reapers reapers = new Reapers(this::reaper);
    List<Tenant> served = List.of(own.tenant(name));
    return new Surroundings(
        leases(own.tenant(name), presence),
        leases(pulse.tenant(name), presence),
        bell,
        background(
            List.of(own, pulse),
            presence,
            () -> recover(own, Optional.of(name.value()), () -> served),
            () -> reapers.runOnce(served, UPKEEP_PERIOD)));
  }

  private Surroundings surroundingsOfAll(WorkerConfig config, Set<String> kinds) {
    Tenants own = tenants.keepingAConnection();
    Tenants pulse = tenants.keepingAConnection();
    Presence presence = presence(own, config, kinds, Optional.empty());
    Reapers reapers = new Reapers(this::reaper);
    TenantRotation rotation = new TenantRotation(own, tenant -> leases(tenant, presence));
    rotation.refresh();
    return new Surroundings(
        rotation,
        new TenantRotation(pulse, tenant -> leases(tenant, presence)),
        bell,
        background(
            List.of(own, pulse),
            presence,
            () -> recover(own, Optional.empty(), () -> tenantsOf(own)),
            () -> {
              rotation.refresh();
              return reapers.runOnce(tenantsOf(own), UPKEEP_PERIOD);
            }));
  }

  private static List<Tenant> tenantsOf(Tenants own) {
    return own.list().stream().map(own::tenant).toList();
  }

  private Reaper reaper(Tenant tenant) {
    return new Reaper(
        tenant,
        RandomGenerator.getDefault(),
        consequences(tenant),
        Steadiness.watched(UPKEEP_PERIOD, System::nanoTime),
        retention);
  }

  // Without it those jobs wait until their leases have run out, so it may fail.
  private void recover(Tenants own, Optional<String> tenant, Supplier<List<Tenant>> served) {
    try {
      Predecessors predecessors = new Predecessors(own.control(), tenant);
      Predecessors.Dead dead = predecessors.dead();
      if (!dead.names().isEmpty()) { // seldom: a start is not to pay for what did not happen
        served.get().forEach(each -> reaper(each).endOf(dead));
      }
      predecessors.forget(dead);
    } catch (RuntimeException e) {
      log.warn("Could not take over from workers that are dead; their leases will run out", e);
    }
  }

  private Consequences consequences(Tenant tenant) {
    return Consequences.of(() -> announcer.announce(tenant.name().value()), hook);
  }

  private static Presence presence(
      Tenants own, WorkerConfig config, Set<String> kinds, Optional<String> tenant) {
    return new Presence(
        own.control(),
        new WorkerInfo(
            config.name(),
            config.host(),
            config.labels(),
            tenant,
            config.queues(),
            Optional.of(kinds)));
  }

  private List<Background> background(
      List<Tenants> kept, Presence presence, Runnable recovery, Supplier<Duration> upkeep) {
    Listener listener = new Listener(dataSource, channel, bell);
    return List.of(
        new Background("holdfast-listen", listener, listener),
        new Background(
            "holdfast-upkeep",
            () -> {
              presence.beat();
              return upkeep.get();
            },
            () -> {
              kept.forEach(Tenants::keepConnection);
              recovery.run(); // before it claims anything under what may be their name
              presence.beat();
            },
            () -> {
              try {
                presence.leave();
              } finally {
                for (Tenants each : kept) {
                  each.close();
                }
              }
            }));
  }

  private LeaseSource leases(Tenant tenant, Hosts hosts) {
    return new PgLeases(
        tenant,
        hosts,
        new LanePositions(System::nanoTime),
        RandomGenerator.getDefault(),
        consequences(tenant));
  }

  /** What can be chosen about a Holdfast. */
  public static final class Builder {

    private final DataSource dataSource;
    private SchemaName controlSchema = new SchemaName("holdfast");
    private Codec codec = new JacksonCodec();
    private boolean notifyInTransactions = true;
    private TransitionHook hook = TransitionHook.NONE;
    private Retention retention = Retention.DEFAULTS;

    private Builder(DataSource dataSource) {
      this.dataSource = dataSource;
    }

    /**
     * Where the tenants are listed; theirs are named {@code <control>_<tenant>}. Defaults to {@code
     * holdfast}.
     */
    public Builder controlSchema(String name) {
      controlSchema = new SchemaName(name);
      return this;
    }

    public Builder codec(Codec codec) {
      this.codec = codec;
      return this;
    }

    /**
     * Whether jobs enqueued in a caller's transaction are announced by NOTIFY at its commit.
     * Commits that notify take turns, so thousands a second are better off without; workers then
     * find such jobs by polling. Defaults to true.
     */
    public Builder notifyInTransactions(boolean notify) {
      this.notifyInTransactions = notify;
      return this;
    }

    /** Called in every transaction that moves jobs, for tables of the application's own. */
    public Builder onTransition(TransitionHook hook) {
      this.hook = hook;
      return this;
    }

    /** How long what is over is kept. */
    public Builder retention(Retention retention) {
      this.retention = retention;
      return this;
    }

    public Holdfast build() {
      return new Holdfast(this);
    }
  }
}
