package dev.holdfast.fault;

import static dev.holdfast.fault.Ground.ADA;
import static dev.holdfast.fault.Ground.id;
import static dev.holdfast.fault.Ground.job;
import static dev.holdfast.fault.LeaseOperations.GUARDED;

import dev.holdfast.audit.Audit;
import dev.holdfast.fault.Operation.Action;
import dev.holdfast.fleet.FencelessAgents;
import dev.holdfast.fleet.Workers;
import dev.holdfast.hold.Resources;
import dev.holdfast.invariant.Invariants;
import dev.holdfast.invariant.Overlooked;
import dev.holdfast.job.Job;
import dev.holdfast.job.NewJob;
import dev.holdfast.lease.Lease;
import dev.holdfast.overview.Overview;
import dev.holdfast.queue.JobFilter;
import dev.holdfast.queue.Jobs;
import dev.holdfast.schedule.Planned;
import dev.holdfast.schedule.Schedule;
import dev.holdfast.schedule.Schedules;
import dev.holdfast.schedule.Trigger;
import dev.holdfast.subject.Subjects;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** What people and applications look at. Nothing changes, and a failure is one of the database. */
final class ReadOperations {

  private ReadOperations() {}

  static List<Operation> all() {
    return List.of(
        reads("look at a job", ReadOperations::aJob),
        reads("why a job is not running", ReadOperations::why),
        reads("look at jobs", ReadOperations::jobs),
        reads("look at queues and resources", ReadOperations::queues),
        reads("look at schedules", ReadOperations::schedules),
        reads("look at what people did", ReadOperations::acts),
        reads("look at all at once", ReadOperations::overview),
        reads("look at the invariants", ReadOperations::invariants));
  }

  private static Operation reads(String name, Action action) {
    return Operation.of(
            name,
            ground -> {
              Lease unused = ground.running(GUARDED);
              ground.enqueue(
                  job("waits").withResources("licence"), job("far").withDelay(Duration.ofDays(1)));
              List<Lease> unusedNone = ground.claim();
              Planned unusedPlan =
                  ground
                      .engine()
                      .schedules()
                      .put(
                          Schedule.of("brief", Trigger.cron("* * * * *"), NewJob.of("work", 1)),
                          ADA);
              Job unusedJob = ground.engine().acts().cancel(id("far"), ADA);
              return action;
            })
        .inSteps(0);
  }

  private static String all(Object... found) {
    return found.length + " answers";
  }

  private static String aJob(Engine engine) {
    Jobs jobs = engine.jobs();
    UUID id = id("guarded");
    return all(
        jobs.get(id),
        jobs.attempts(id),
        jobs.attempts(id, 0, 10),
        jobs.lastAttempts(id, 10),
        jobs.log(id),
        jobs.log(id, 0, 10),
        jobs.logTail(id, 10),
        jobs.logEntries(id, 10),
        jobs.items(id, 10),
        jobs.touched(List.of(id)),
        new Subjects(engine.tenant()).get("site", "7"));
  }

  private static String why(Engine engine) {
    return all(
        engine.jobs().why(id("waits")),
        engine.jobs().why(id("guarded")),
        engine.jobs().why(id("far")));
  }

  private static String jobs(Engine engine) {
    Jobs jobs = engine.jobs();
    return all(
        jobs.all(List.of(id("guarded"), id("waits"))),
        jobs.list(JobFilter.ALL, Optional.empty(), 10),
        jobs.list(JobFilter.ALL.withTarget("crm"), Optional.empty(), 10),
        jobs.onTargets(JobFilter.ALL, 0, 10),
        jobs.onTargets(JobFilter.ALL.withTarget("crm"), 0, 10),
        each(jobs, List.of(id("waits"), id("guarded"))),
        jobs.leasedByWorker(),
        engine.leases().remote().namedHosts());
  }

  private static List<Job> each(Jobs jobs, List<UUID> ids) {
    List<Job> found = new ArrayList<>();
    jobs.each(ids, (job, place) -> found.add(job));
    return found;
  }

  private static String queues(Engine engine) {
    Resources resources = engine.resources();
    return all(
        engine.queues().get("limited"),
        engine.queues().list("", 10),
        resources.names("", 10),
        resources.list("", 10),
        resources.get("licence"),
        resources.blocksOlderThan(Duration.ofMinutes(1)));
  }

  private static String schedules(Engine engine) {
    Schedules schedules = engine.schedules();
    return all(
        schedules.get("brief"),
        schedules.list("", 10),
        schedules.next("brief", 3, Optional.empty()),
        schedules.slots("brief", Optional.empty(), 10));
  }

  private static String acts(Engine engine) {
    Audit audit = new Audit(engine.tenant());
    FencelessAgents agents = new FencelessAgents(engine.tenant());
    return all(
        audit.latest(10),
        audit.before(1_000, 10),
        audit.ofJob(id("far")),
        audit.lastOfJob(id("far"), 10),
        agents.list());
  }

  private static String overview(Engine engine) {
    Overview overview = new Overview(engine.tenant());
    return all(
        overview.now(),
        overview.counters(Instant.EPOCH),
        overview.waits(Instant.EPOCH),
        overview.counts(),
        overview.failures(Duration.ofDays(1)),
        overview.oldest(),
        overview.holds(),
        overview.blocks(10));
  }

  private static String invariants(Engine engine) {
    Workers workers = new Workers(engine.tenants().control());
    return all(
        new Invariants(engine.tenant()).check(), new Overlooked(engine.tenant(), workers).look());
  }
}
