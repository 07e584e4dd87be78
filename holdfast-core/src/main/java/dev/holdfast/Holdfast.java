package dev.holdfast;

import dev.holdfast.audit.Act;
import dev.holdfast.audit.Audit;
import dev.holdfast.codec.Codec;
import dev.holdfast.doctor.Doctor;
import dev.holdfast.fleet.Hosts;
import dev.holdfast.fleet.Workers;
import dev.holdfast.hold.Resources;
import dev.holdfast.invariant.Invariants;
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
 * Where everything begins: one Holdfast on one database. It wires the parts and hands them out; it
 * has no threads and nothing to close, workers do. Thread-safe.
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
            new Listening(() -> ear(builder), channel, bell),
            bell,
            announcer,
            hook,
            builder.retention,
            new AtomicInteger());
  }

  // Whoever says where to listen knows; by the way of everything else it may not get through.
  private Optional<DataSource> ear(HoldfastBuilder builder) {
    return builder.listening.or(() ->
        tenants.pooling().sharesSessions()
            ? Optional.empty()
            : Optional.of(builder.reserved.orElse(builder.dataSource)));
  }

  /**
   * With all defaults. A worker keeps two connections of the pool to itself, for heartbeats and for
   * the rest, and one more listens for all of them, so give the pool five or more. Give it itself,
   * not something before it that lends out the transaction which a thread is in.
   */
  public static Holdfast on(DataSource dataSource) {
    return builder(dataSource).build();
  }

  public static HoldfastBuilder builder(DataSource dataSource) {
    return new HoldfastBuilder(dataSource);
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

  /** The same tenants by connections that {@link HoldfastBuilder#reserve} set aside. */
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
    // Not under the map's lock: who hears nothing from the database would keep others waiting.
    Tenant opened = tenants.open(tenant);
    WhyNot whyNot = new WhyNot(opened, workers());
    Jobs made = new Jobs(opened, codec, announcer, whyNot, tracing::current);
    Jobs faster = jobs.putIfAbsent(tenant, made);
    return faster == null ? made : faster;
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

  /** The default tenant at a glance. */
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

  /** Decides about the default tenant's slots, once it is started. */
  public Scheduler scheduler() {
    return scheduler(TenantName.DEFAULT);
  }

  public Scheduler scheduler(TenantName tenant) {
    List<Tenant> one = List.of(tenants.open(tenant));
    return new Scheduler(() -> one, this::ticker);
  }

  /** Decides about the slots of all tenants, also those created later. */
  public Scheduler schedulerForAllTenants() {
    return new Scheduler(() -> tenants.list().stream().map(tenants::tenant).toList(), this::ticker);
  }

  private Ticker ticker(Tenant tenant) {
    return new Ticker(tenant, codec, jobs(tenant.name()), acts(tenant.name()));
  }

  /** A worker for the default tenant. */
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

  /** A worker for all tenants, also those created later, each getting its fair share. */
  public WorkerBuilder workerForAllTenants() {
    tenants.requireControl();
    return traced(new WorkerBuilder(codec, wiring::dependenciesOfAll));
  }

  private WorkerBuilder traced(WorkerBuilder worker) {
    return tracing.equals(Tracing.NONE) ? worker : worker.intercept(tracing);
  }

  /** A tenant's leases, for workers that are somewhere else. */
  public RemoteLeases remoteLeases(TenantName tenant, Hosts hosts) {
    return wiring.leases(tenants.open(tenant), hosts).remote();
  }

  /** The same leases by connections set aside: for beats, which must not wait behind the rest. */
  public RemoteLeases remotePulse(TenantName tenant, Hosts hosts) {
    return wiring.pulse(tenant, hosts).remote();
  }

  /** The same jobs by connections set aside: for who has to look at one before its lease ends. */
  public Jobs pulseJobs(TenantName tenant) {
    Tenant by = reserved.tenant(tenant);
    return new Jobs(by, codec, announcer, new WhyNot(by, workers()), tracing::current);
  }

  /**
   * Takes all tenants' fences past any that a database which was restored or promoted cannot know
   * of; before anybody works on it.
   *
   * @return the fence that each goes on from
   */
  public Map<TenantName, Long> raiseFences(Act act) {
    Map<TenantName, Long> raised = new LinkedHashMap<>();
    tenants.list().forEach(name -> raised.put(name, Fences.raise(tenants.tenant(name), act)));
    return raised;
  }

  /**
   * Looks at the ground that all this stands on.
   *
   * @param clock this machine's, to be compared with the database's
   */
  public Doctor doctor(InstantSource clock) {
    return new Doctor(tenants, this::queues, clock);
  }

  /** All workers that are known. */
  public Workers workers() {
    return new Workers(tenants.control());
  }

  /** Hears in this process what others announce, from now until it is closed. */
  public AutoCloseable listen() {
    return wiring.listen();
  }

  /** Called with a tenant that may have work; must not block. */
  public AutoCloseable onWork(Consumer<String> listener) {
    return bell.onRing(listener);
  }

  /**
   * Looks after all tenants from now until it is closed, as a worker would beside its work: ends
   * what silent workers left, passes on what they held, prunes what is old.
   */
  public AutoCloseable upkeep() {
    return wiring.upkeep();
  }
}
