package dev.holdfast;

import dev.holdfast.fleet.Hosts;
import dev.holdfast.fleet.IdleTime;
import dev.holdfast.fleet.Predecessors;
import dev.holdfast.fleet.Presence;
import dev.holdfast.fleet.WorkerInfo;
import dev.holdfast.lease.Consequences;
import dev.holdfast.lease.LanePositions;
import dev.holdfast.lease.PgLeases;
import dev.holdfast.lease.TenantRotation;
import dev.holdfast.lease.TransitionHook;
import dev.holdfast.loop.Loop;
import dev.holdfast.reap.Outages;
import dev.holdfast.reap.Reaper;
import dev.holdfast.reap.Reapers;
import dev.holdfast.reap.Succession;
import dev.holdfast.retention.Retention;
import dev.holdfast.tenant.Tenant;
import dev.holdfast.tenant.TenantName;
import dev.holdfast.tenant.Tenants;
import dev.holdfast.wake.Announcer;
import dev.holdfast.wake.Bell;
import dev.holdfast.wake.Listening;
import dev.holdfast.worker.Idle;
import dev.holdfast.worker.ServedKinds;
import dev.holdfast.worker.WorkerConfig;
import dev.holdfast.worker.WorkerDependencies;
import dev.holdfast.worker.WorkerDependencies.Background;
import dev.holdfast.worker.WorkerDependencies.Looping;
import dev.holdfast.worker.WorkerListener;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/**
 * Creates the dependencies of workers, and what runs beside them.
 *
 * @param reserved the same tenants, over the connections set aside for heartbeats
 * @param upkeeps how many upkeeps of all tenants run in this process
 */
record Wiring(
    Tenants tenants,
    Tenants reserved,
    Listening listening,
    Bell bell,
    Announcer announcer,
    TransitionHook hook,
    Retention retention,
    AtomicInteger upkeeps) {

  // How soon a silent worker's jobs are taken back, a new tenant is served, and an absent host is
  // noticed.
  private static final Duration UPKEEP_PERIOD = Duration.ofSeconds(5);

  /** Listens for the announcements of other processes, without a worker. */
  AutoCloseable listen() {
    return listening.start();
  }

  /** Runs the upkeep of all tenants without a worker. Workers of this process then skip theirs. */
  AutoCloseable upkeep() {
    Tenants own = tenants.keepingAConnection();
    Reapers reapers = reapers(own);
    Loop loop = Loop.start("holdfast-upkeep", () -> reapers.runOnce(tenantsOf(own), UPKEEP_PERIOD));
    upkeeps.incrementAndGet();
    return () -> {
      upkeeps.decrementAndGet();
      loop.close();
      own.close();
    };
  }

  WorkerDependencies dependencies(
      WorkerConfig config, ServedKinds kinds, WorkerListener listener, TenantName name) {
    Tenants own = tenants.keepingAConnection();
    Tenants kept = reserved.keepingAConnection();
    Idle idle = new Idle();
    Presence presence = presence(own, config, kinds, Optional.of(name.value()), idle);
    Reapers reapers = reapers(own);
    List<Tenant> served = List.of(own.tenant(name));
    return new WorkerDependencies(
        leases(own.tenant(name), presence.hostsOf(name)),
        leases(kept.tenant(name), presence.hostsOf(name)),
        bell,
        background(
            List.of(own, kept),
            presence,
            succession(own, config, Optional.of(name.value()), () -> served, listener),
            () -> reap(reapers, served)),
        presence::isDraining,
        idle);
  }

  WorkerDependencies dependenciesOfAll(
      WorkerConfig config, ServedKinds kinds, WorkerListener listener) {
    Tenants own = tenants.keepingAConnection();
    Tenants kept = reserved.keepingAConnection();
    Idle idle = new Idle();
    Presence presence = presence(own, config, kinds, Optional.empty(), idle);
    Reapers reapers = reapers(own);
    TenantRotation rotation =
        new TenantRotation(
            own,
            tenant -> leases(tenant, presence.hostsOf(tenant.name())),
            (request, tenant) -> request.withKinds(kinds.of(tenant)));
    rotation.refresh();
    return new WorkerDependencies(
        rotation,
        new TenantRotation(kept, tenant -> leases(tenant, presence.hostsOf(tenant.name()))),
        bell,
        background(
            List.of(own, kept),
            presence,
            succession(own, config, Optional.empty(), () -> tenantsOf(own), listener),
            () -> {
              rotation.refresh();
              return reap(reapers, tenantsOf(own));
            }),
        presence::isDraining,
        idle);
  }

  // Skipped while an upkeep of all tenants runs. To reap twice would do no harm; it would only be
  // more work.
  private Duration reap(Reapers reapers, List<Tenant> served) {
    return upkeeps.get() > 0 ? UPKEEP_PERIOD : reapers.runOnce(served, UPKEEP_PERIOD);
  }

  private static List<Tenant> tenantsOf(Tenants own) {
    return own.list().stream().map(own::tenant).toList();
  }

  private Reapers reapers(Tenants own) {
    Outages outages = new Outages(own.control(), UPKEEP_PERIOD, System::nanoTime);
    return new Reapers(this::reaper, outages::measure);
  }

  private Reaper reaper(Tenant tenant) {
    return new Reaper(tenant, RandomGenerator.getDefault(), consequences(tenant), retention);
  }

  private Succession succession(
      Tenants own,
      WorkerConfig config,
      Optional<String> tenant,
      Supplier<List<Tenant>> served,
      WorkerListener listener) {
    return new Succession(
        new Predecessors(own.control(), tenant, config.name(), config.host()),
        served,
        this::reaper,
        listener::runsRecovered);
  }

  private Consequences consequences(Tenant tenant) {
    return Consequences.of(() -> announcer.announce(tenant.name().value()), hook);
  }

  private static Presence presence(
      Tenants own, WorkerConfig config, ServedKinds kinds, Optional<String> tenant, Idle idle) {
    return new Presence(
        own.control(),
        () ->
            new WorkerInfo(
                config.name(),
                config.host(),
                config.labels(),
                tenant,
                config.queues(),
                Optional.of(kinds.all())),
        () -> idleTime(config, kinds, idle));
  }

  // Kinds that are registered while the worker runs it has not served all the time, and does not
  // serve in every tenant. So it cannot say then what it had permits for.
  private static Optional<IdleTime> idleTime(WorkerConfig config, ServedKinds kinds, Idle idle) {
    return kinds.registered().all().isEmpty()
        ? idle.length().map(length -> new IdleTime(length, config.pollInterval()))
        : Optional.empty();
  }

  private List<Background> background(
      List<Tenants> kept, Presence presence, Succession succession, Supplier<Duration> upkeep) {
    return List.of(
        listening::start,
        new Looping(
            "holdfast-upkeep",
            () -> {
              presence.beat();
              succession.goOn();
              return upkeep.get();
            },
            () -> {
              kept.forEach(Tenants::keepConnection);
              succession.begin();
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

  /** A tenant's leases over the reserved connections. */
  PgLeases reservedLeases(TenantName tenant, Hosts hosts) {
    return leases(reserved.tenant(tenant), hosts);
  }

  PgLeases leases(Tenant tenant, Hosts hosts) {
    return new PgLeases(
        tenant,
        hosts,
        new LanePositions(System::nanoTime),
        RandomGenerator.getDefault(),
        consequences(tenant));
  }
}
