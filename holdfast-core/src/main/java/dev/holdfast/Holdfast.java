package dev.holdfast;

import dev.holdfast.audit.Act;
import dev.holdfast.audit.Audit;
import dev.holdfast.codec.Codec;
import dev.holdfast.doctor.Doctor;
import dev.holdfast.fleet.Hosts;
import dev.holdfast.fleet.Workers;
import dev.holdfast.hold.Resources;
import dev.holdfast.invariant.Invariants;
import dev.holdfast.invariant.Overlooked;
import dev.holdfast.lease.Fences;
import dev.holdfast.lease.RemoteLeases;
import dev.holdfast.lease.TransitionHook;
import dev.holdfast.overview.Overview;
import dev.holdfast.queue.Acts;
import dev.holdfast.queue.Jobs;
import dev.holdfast.queue.Queues;
import dev.holdfast.queue.WhyNot;
import dev.holdfast.schedule.Scheduler;
import dev.holdfast.schedule.Schedules;
import dev.holdfast.schedule.Ticker;
import dev.holdfast.subject.Subjects;
import dev.holdfast.tenant.Tenant;
import dev.holdfast.tenant.TenantName;
import dev.holdfast.tenant.Tenants;
import dev.holdfast.tracing.Tracing;
import dev.holdfast.wake.Announcer;
import dev.holdfast.wake.Bell;
import dev.holdfast.wake.Channel;
import dev.holdfast.wake.Listening;
import dev.holdfast.worker.WorkerBuilder;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import javax.sql.DataSource;

/**
 * The entry point: one Holdfast on one database. It gives access to jobs, acts, resources, queues
 * and schedules, and builds workers. It has no threads of its own and need not be closed; workers
 * and schedulers must be. Thread-safe.
 *
 * <p>Methods for a tenant throw a {@link dev.holdfast.error.HoldfastException}: {@code NOT_FOUND}
 * when there is no such tenant, {@code SCHEMA_MISMATCH} when this version cannot work with its
 * tables, {@code BAD_CONFIG} when the pool's connections cannot be used, and {@code DATABASE} when
 * the database cannot be reached.
 */
public final class Holdfast {

  private final Tenants tenants;
  private final Tenants reserved;
  private final Codec codec;
  private final TransitionHook hook;
  private final Tracing tracing;
  private final Bell bell = new Bell();
  private final Announcer announcer;
  private final Wiring wiring;
  private final Map<TenantName, Jobs> jobs = new ConcurrentHashMap<>();

  Holdfast(HoldfastBuilder builder) {
    this.codec = builder.codec;
    this.hook = builder.hook;
    this.tracing = builder.tracing;
    this.tenants = new Tenants(builder.dataSource, builder.controlSchema);
    this.reserved =
        builder.reserved.map(pool -> new Tenants(pool, builder.controlSchema)).orElse(tenants);
    Channel channel = Channel.of(builder.controlSchema);
    this.announcer = new Announcer(tenants.control(), channel, bell, builder.notifyInTransactions);
    this.wiring =
        new Wiring(
            tenants,
            reserved,
            new Listening(() -> listeningPool(builder), channel, bell),
            bell,
            announcer,
            hook,
            builder.retention,
            new AtomicInteger());
  }

  // An explicit listenOn address is used as it is. Other connections are used only if no pooler
  // shares their sessions, because notifications do not get through such a pooler.
  private Optional<DataSource> listeningPool(HoldfastBuilder builder) {
    return builder.listening.or(() ->
        tenants.pooling().sharesSessions()
            ? Optional.empty()
            : Optional.of(builder.reserved.orElse(builder.dataSource)));
  }

  /**
   * A Holdfast with all defaults. A worker keeps two connections of the pool to itself, one for
   * heartbeats and one for everything else, and one more connection listens for all workers of this
   * process, so give the pool five or more. Pass the pool itself, not a wrapper that hands out the
   * connection of the calling thread's transaction: Holdfast refuses such a connection.
   */
  public static Holdfast on(DataSource dataSource) {
    return builder(dataSource).build();
  }

  public static HoldfastBuilder builder(DataSource dataSource) {
    return new HoldfastBuilder(dataSource);
  }

  /**
   * Creates or upgrades the control tables and those of every tenant, and creates the default
   * tenant. Any number of nodes may call this at once. Needs DDL rights.
   */
  public Holdfast migrate() {
    tenants.migrate();
    tenants.create(TenantName.DEFAULT);
    return this;
  }

  public Tenants tenants() {
    return tenants;
  }

  /** The same tenants over the connections that {@link HoldfastBuilder#reserve} set aside. */
  public Tenants reserved() {
    return reserved;
  }

  /** The default tenant's jobs. */
  public Jobs jobs() {
    return jobs(TenantName.DEFAULT);
  }

  public Jobs jobs(TenantName tenant) {
    Jobs known = jobs.get(tenant);
    if (known != null) {
      return known;
    }
    // Not inside computeIfAbsent: while the database does not answer, the map's lock would block
    // threads that ask for other tenants.
    Tenant opened = tenants.open(tenant);
    WhyNot whyNot = new WhyNot(opened, workers());
    Jobs made = new Jobs(opened, codec, announcer, whyNot, tracing::current);
    Jobs faster = jobs.putIfAbsent(tenant, made);
    return faster == null ? made : faster;
  }

  /** What people do to the default tenant's jobs: cancel, retry, pause and so on. */
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

  /** The audit record of the default tenant. */
  public Audit audit() {
    return audit(TenantName.DEFAULT);
  }

  public Audit audit(TenantName tenant) {
    return new Audit(tenants.open(tenant));
  }

  /** Checks the invariants of the default tenant. */
  public Invariants invariants() {
    return invariants(TenantName.DEFAULT);
  }

  public Invariants invariants(TenantName tenant) {
    return new Invariants(tenants.open(tenant));
  }

  /** Finds jobs of a tenant that idle workers overlook; ask the same object again and again. */
  public Overlooked overlooked(TenantName tenant) {
    return new Overlooked(tenants.open(tenant), workers());
  }

  /** Figures that show the state of the default tenant. */
  public Overview overview() {
    return overview(TenantName.DEFAULT);
  }

  public Overview overview(TenantName tenant) {
    return new Overview(tenants.open(tenant));
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

  /** A scheduler for the default tenant. It decides about due slots once it is started. */
  public Scheduler scheduler() {
    return scheduler(TenantName.DEFAULT);
  }

  public Scheduler scheduler(TenantName tenant) {
    List<Tenant> one = List.of(tenants.open(tenant));
    return new Scheduler(() -> one, this::ticker);
  }

  /** A scheduler for all tenants, including those created later. */
  public Scheduler schedulerForAllTenants() {
    return new Scheduler(() -> tenants.list().stream().map(tenants::tenant).toList(), this::ticker);
  }

  private Ticker ticker(Tenant tenant) {
    return new Ticker(tenant, codec, jobs(tenant.name()), acts(tenant.name()));
  }

  /** Builds a worker for the default tenant's jobs. */
  public WorkerBuilder worker() {
    return worker(TenantName.DEFAULT);
  }

  public WorkerBuilder worker(TenantName name) {
    tenants.open(name);
    tenants.requireControl();
    return traced(
        new WorkerBuilder(
            codec,
            (config, kinds, listener) -> wiring.dependencies(config, kinds, listener, name)));
  }

  /**
   * Builds a worker for the jobs of all tenants, including those created later. Each tenant gets
   * its fair share.
   */
  public WorkerBuilder workerForAllTenants() {
    tenants.requireControl();
    return traced(new WorkerBuilder(codec, wiring::dependenciesOfAll));
  }

  private WorkerBuilder traced(WorkerBuilder worker) {
    return tracing.equals(Tracing.NONE) ? worker : worker.intercept(tracing);
  }

  /**
   * A tenant's leases, for remote workers.
   *
   * @param hosts which hosts have a live worker of the tenant
   */
  public RemoteLeases remoteLeases(TenantName tenant, Hosts hosts) {
    return wiring.leases(tenants.open(tenant), hosts).remote();
  }

  /**
   * The same leases over the reserved connections, for heartbeats, which must not wait behind other
   * requests. Does not check that the tenant exists.
   */
  public RemoteLeases remotePulse(TenantName tenant, Hosts hosts) {
    return wiring.reservedLeases(tenant, hosts).remote();
  }

  /**
   * A tenant's jobs over the reserved connections, for callers that must read a job before its
   * lease ends. Does not check that the tenant exists.
   */
  public Jobs reservedJobs(TenantName tenant) {
    Tenant by = reserved.tenant(tenant);
    return new Jobs(by, codec, announcer, new WhyNot(by, workers()), tracing::current);
  }

  /**
   * Raises the fences of all tenants above any that a restored or promoted database may not know
   * of, also of tenants that it does not know and that are made later. Call this before any worker
   * runs on that database.
   *
   * @param act who raises them, and why; recorded for every tenant
   * @return the fence that each tenant continues from
   */
  public Map<TenantName, Long> raiseFences(Act act) {
    tenants.raiseFencesOfOthers(Fences.LEAP);
    Map<TenantName, Long> raised = new LinkedHashMap<>();
    tenants.list().forEach(name -> raised.put(name, Fences.raise(tenants.tenant(name), act)));
    return raised;
  }

  /**
   * Checks the database and the tenants in it.
   *
   * @param clock this machine's clock, to be compared with the database's
   */
  public Doctor doctor(InstantSource clock) {
    return new Doctor(tenants, this::queues, clock);
  }

  /** The workers on this database, of all tenants. */
  public Workers workers() {
    return new Workers(tenants.control());
  }

  /**
   * Listens for the announcements of other processes until the returned object is closed. Workers
   * listen by themselves.
   */
  public AutoCloseable listen() {
    return wiring.listen();
  }

  /**
   * Calls {@code listener} with the name of each tenant that may have work, until the returned
   * object is closed. The listener must not block.
   */
  public AutoCloseable onWork(Consumer<String> listener) {
    return bell.onRing(listener);
  }

  /**
   * Runs the upkeep of all tenants until the returned object is closed: ends attempts of silent
   * workers, passes on what they held, and prunes old history. Workers of this process leave that
   * to it.
   */
  public AutoCloseable upkeep() {
    return wiring.upkeep();
  }
}
