package dev.holdfast.fault;

import static dev.holdfast.fault.Ground.ADA;
import static dev.holdfast.fault.Ground.WORKER;
import static dev.holdfast.fault.Ground.job;
import static dev.holdfast.fault.LeaseOperations.GUARDED;

import dev.holdfast.fault.Operation.Action;
import dev.holdfast.fault.Operation.Trait;
import dev.holdfast.fleet.Predecessors;
import dev.holdfast.fleet.Predecessors.Gone;
import dev.holdfast.fleet.Presence;
import dev.holdfast.fleet.RemoteWorkers;
import dev.holdfast.fleet.WorkerInfo;
import dev.holdfast.fleet.Workers;
import dev.holdfast.hold.ResourcePruner;
import dev.holdfast.job.Failure;
import dev.holdfast.job.Outcome;
import dev.holdfast.lease.Fences;
import dev.holdfast.lease.Finish;
import dev.holdfast.lease.Lease;
import dev.holdfast.lease.Report;
import dev.holdfast.outbox.Outbox;
import dev.holdfast.queue.QueueSettings;
import dev.holdfast.reap.Outages;
import dev.holdfast.retention.HistoryPruner;
import dev.holdfast.retention.Retention;
import dev.holdfast.tenant.Db;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** What keeps the house: retention, registers of workers, queues, notes to be passed on. */
final class HouseOperations {

  private HouseOperations() {}

  static List<Operation> all() {
    return List.of(
        Operation.of("prune the history", HouseOperations::prune)
            .inSteps(5)
            .with(Trait.MAY_DO_A_PART),
        Operation.of("prune resources", HouseOperations::resources),
        Operation.act("change a queue", HouseOperations::queue),
        Operation.of("take notes out", HouseOperations::notes),
        Operation.ofWorker("take over from a dead worker", HouseOperations::predecessor),
        Operation.of("be present", HouseOperations::presence), // and leave as if never come
        Operation.of("look for predecessors", HouseOperations::predecessors),
        Operation.of("remote workers beat", HouseOperations::remote),
        Operation.of("drain a worker", HouseOperations::drain),
        Operation.of("come through after an outage", HouseOperations::outage),
        Operation.act("raise fences", HouseOperations::fences),
        Operation.of("raise the fences of others", HouseOperations::fencesOfOthers));
  }

  private static Action prune(Ground ground) {
    Lease a = ground.running(job("a"));
    ground.engine().leases().report(a, Report.ofLog(List.of("one", "two")));
    ground.engine().leases().finish(List.of(new Finish(a, Outcome.succeeded())));
    Lease b = ground.running(job("b"));
    ground
        .engine()
        .leases()
        .finish(List.of(new Finish(b, Outcome.failed(Failure.permanent("BAD", "never")))));
    Lease snoozed = ground.running(job("d"));
    ground
        .engine()
        .leases()
        .finish(List.of(new Finish(snoozed, Outcome.snoozed(Duration.ofDays(1)))));
    ground.enqueue(job("c"));
    Lease c = ground.engine().leases().claim(Ground.request().withClaimId("c")).leases().getFirst();
    ground.engine().leases().report(c, Report.ofLog(List.of("three", "four")));
    // It lives on, but its claim is nobody's any more.
    ground.engine().leases().finish(List.of(new Finish(c, Outcome.snoozed(Duration.ofDays(1)))));
    ground.execute(
        """
        INSERT INTO {schema}.slot (schedule, scheduled_for, status, reason, decided_at)
        VALUES ('brief', {schema}.clock(), 'skipped_misfire', 'too late', {schema}.clock())
        """);
    ground.later(500 * 24 * 3600);
    return engine -> {
      int unused = new HistoryPruner(engine.tenant().db(), Retention.DEFAULTS).prune();
      return "";
    };
  }

  private static Action resources(Ground ground) {
    Lease lease = ground.running(GUARDED);
    ground.engine().leases().finish(List.of(new Finish(lease, Outcome.succeeded())));
    ground.later(60 * 24 * 3600);
    return engine -> {
      Db db = engine.tenant().db();
      int unused = db.inTransaction(new ResourcePruner(db)::prune);
      return "";
    };
  }

  private static Action queue(Ground ground) {
    ground.enqueue(job("a"));
    return engine -> {
      QueueSettings unused =
          engine.queues().change("limited", settings -> settings.withPaused(true), ADA);
      return "";
    };
  }

  private static Action notes(Ground ground) {
    ground.execute(
        """
        INSERT INTO {schema}.outbox (event, detail, at)
        VALUES ('slot_missed', 'one', {schema}.clock()), ('slot_missed', 'two', {schema}.clock())
        """);
    return engine -> {
      Db db = engine.tenant().db();
      int unused = db.inTransaction(handle -> new Outbox(db).take(handle, 10).size());
      return "";
    };
  }

  private static Action predecessor(Ground ground) {
    Lease unused = ground.running(GUARDED);
    ground.enqueue(job("waits").withResources("licence"));
    Gone gone = new Gone(List.of(), List.of(WORKER), Set.of(), ground.now());
    return engine -> {
      int unusedEnded = engine.reaper().endOf(gone);
      return "";
    };
  }

  private static WorkerInfo info(Ground ground) {
    return new WorkerInfo(
        WORKER,
        "host-of-" + ground.tenant(),
        Map.of(),
        Optional.of(ground.tenant().value()),
        Set.of("default"),
        Optional.empty());
  }

  private static Action presence(Ground ground) {
    ground.enqueue(job("a"));
    Map<Engine, Presence> workers = new HashMap<>(); // one that beats again is the same
    return engine -> {
      Presence presence =
          workers.computeIfAbsent(
              engine,
              fresh ->
                  new Presence(fresh.tenants().control(), () -> info(ground), Optional::empty));
      presence.beat();
      Set<String> unused = presence.hostsOf(ground.tenant()).online();
      presence.leave();
      return "";
    };
  }

  private static Action predecessors(Ground ground) {
    ground.enqueue(job("a"));
    WorkerInfo info = info(ground);
    new Presence(ground.engine().tenants().control(), () -> info, Optional::empty).beat();
    // The process had another beginning: it was one before this, and is dead.
    ground.execute("UPDATE {control}.worker SET process = process || '0'");
    return engine -> {
      Predecessors all =
          new Predecessors(engine.tenants().control(), info.tenant(), info.name(), info.host());
      all.forget(all.gone());
      return "";
    };
  }

  private static Action remote(Ground ground) {
    ground.enqueue(job("a"));
    return engine -> {
      RemoteWorkers workers = new RemoteWorkers(engine.tenants().control());
      workers.seen(info(ground));
      Duration unused = workers.runOnce();
      return String.valueOf(workers.isDraining(ground.tenant(), WORKER));
    };
  }

  private static Action drain(Ground ground) {
    ground.enqueue(job("a"));
    new Presence(ground.engine().tenants().control(), () -> info(ground), Optional::empty).beat();
    return engine -> {
      Workers workers = new Workers(engine.tenants().control());
      boolean unused =
          engine
              .tenants()
              .control()
              .inTransaction(handle -> workers.drain(handle, ground.tenant(), WORKER, false, true));
      return workers.list(ground.tenant(), "", 10).isEmpty()
          + " "
          + workers.anyServes(
              ground.tenant().value(), "default", "work", Optional.empty(), List.of());
    };
  }

  private static Action outage(Ground ground) {
    ground.enqueue(job("a"));
    return engine -> {
      // So long that however late the repeat is, it comes within the same round.
      Duration hour = Duration.ofHours(1);
      Outages outages = new Outages(engine.tenants().control(), hour, System::nanoTime);
      Duration unused = outages.measure(hour).within(hour);
      return "";
    };
  }

  private static Action fences(Ground ground) {
    ground.enqueue(job("a"));
    return engine -> {
      long unused = Fences.raise(engine.tenant(), ADA);
      return "";
    };
  }

  private static Action fencesOfOthers(Ground ground) {
    ground.execute("INSERT INTO {control}.dropped_tenant (name, fence) VALUES ('old', 5)");
    return engine -> {
      engine.tenants().raiseFencesOfOthers(Fences.LEAP);
      return "";
    };
  }
}
