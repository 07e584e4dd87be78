package dev.holdfast.fault;

import static dev.holdfast.fault.Ground.job;

import dev.holdfast.fault.Operation.Action;
import dev.holdfast.fault.Operation.Trait;
import dev.holdfast.job.Failure;
import dev.holdfast.job.Item;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Outcome;
import dev.holdfast.job.Payload;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.job.Progress;
import dev.holdfast.job.Subject;
import dev.holdfast.lease.ClaimRequest;
import dev.holdfast.lease.Extension;
import dev.holdfast.lease.Finish;
import dev.holdfast.lease.Lease;
import dev.holdfast.lease.Report;
import dev.holdfast.lease.ReportReply;
import dev.holdfast.lease.Submission;
import dev.holdfast.queue.QueueSettings;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** What workers do while they have jobs: claim, extend, report. */
final class LeaseOperations {

  /** Needs all that a job can need. */
  static final NewJob GUARDED =
      job("guarded")
          .withQueue("limited")
          .withResources("licence", "node")
          .withTarget("crm")
          .withSubject(Subject.of("site", "7", "deploying"));

  private LeaseOperations() {}

  static List<Operation> all() {
    ClaimRequest request = Ground.request();
    return List.of(
        Operation.ofWorker("claim", ground -> plain(ground, request)).with(Trait.LEASES_WITHOUT_ID),
        Operation.ofWorker("claim guarded jobs", ground -> guarded(ground, request))
            .with(Trait.LEASES_WITHOUT_ID),
        Operation.ofWorker("claim plain and guarded jobs", ground -> both(ground, request))
            .inSteps(2)
            .with(Trait.LEASES_WITHOUT_ID, Trait.MAY_DO_A_PART),
        Operation.ofWorker("claim what must wait", ground -> parked(ground, request)),
        Operation.ofWorker("claim what has waited for too long", ground -> waited(ground, request)),
        Operation.ofWorker("claim with an id", ground -> plain(ground, request.withClaimId("c"))),
        Operation.ofWorker(
            "claim guarded jobs with an id", ground -> guarded(ground, request.withClaimId("c"))),
        Operation.ofWorker(
            "claim plain and guarded jobs with an id",
            ground -> both(ground, request.withClaimId("c"))),
        Operation.ofWorker("extend", LeaseOperations::extend),
        Operation.ofWorker("extend a lost lease too", LeaseOperations::extendLost),
        Operation.ofWorker("report progress", ground -> report(ground, PROGRESS)),
        Operation.ofWorker("report progress and log", ground -> report(ground, ALL))
            .with(Trait.MAY_SAY_TWICE),
        Operation.ofWorker("report everything, with a key", ground -> report(ground, ONCE)),
        Operation.ofWorker("keep a lease ahead of a report", LeaseOperations::keep),
        Operation.ofWorker("report once more, with a key", LeaseOperations::reportAgain).inSteps(0),
        Operation.ofWorker("report the last results", LeaseOperations::reportLast),
        Operation.ofWorker("submit results and go on", ground -> submit(ground, Optional.empty())),
        Operation.ofWorker("submit results and be done", ground -> submit(ground, DONE)),
        Operation.ofWorker("submit results and an error", ground -> submit(ground, FAILED)));
  }

  private static final Report PROGRESS =
      Report.of(Progress.NONE.withCursor("page 3").withPercent(30).withMessage("on it"));

  private static final Report ALL = PROGRESS.withLog(List.of("one", "two"));

  // With tokens over the limit, items and a key: all of them, once, or nothing.
  private static final Report ONCE =
      new Report(
          PROGRESS.progress(),
          List.of("one", "two"),
          60,
          50,
          List.of(new Item("a", new Payload("1")), new Item("b", new Payload("2"))),
          Optional.of("report-1"));

  private static final Optional<Submission.End> DONE =
      Optional.of(
          new Submission.End(
              Outcome.succeeded(), Optional.of("no_more_results"), Optional.of("bye")));

  private static final Optional<Submission.End> FAILED =
      Optional.of(
          new Submission.End(
              Outcome.failed(Failure.retryable("BLOCKED", "try again")),
              Optional.empty(),
              Optional.empty()));

  private static Action submit(Ground ground, Optional<Submission.End> end) {
    Lease lease = ground.running(GUARDED);
    Submission said = new Submission(ONCE, 2, Duration.ofMinutes(3), end);
    return engine ->
        engine.leases().remote().submit(lease.key(), said) instanceof ReportReply.Lost
            ? "lost"
            : "stored";
  }

  private static Action plain(Ground ground, ClaimRequest request) {
    ground.enqueue(job("a"), job("b"), job("c").withPriority(-1));
    return claim(request.withLimit(2));
  }

  private static Action guarded(Ground ground, ClaimRequest request) {
    ground.engine().queues().put("limited", QueueSettings.DEFAULTS.withConcurrencyLimit(1));
    ground.enqueue(GUARDED);
    return claim(request);
  }

  private static Action both(Ground ground, ClaimRequest request) {
    Action claim = guarded(ground, request);
    ground.enqueue(job("a"), job("b"), GUARDED.withId(Ground.id("later")));
    return claim;
  }

  private static Action parked(Ground ground, ClaimRequest request) {
    Lease unused = ground.running(GUARDED);
    ground.enqueue(job("waits").withResources("licence"), job("a").withTarget("crm"));
    return claim(request);
  }

  private static Action keep(Ground ground) {
    Lease lease = ground.running(GUARDED);
    Submission said = new Submission(ONCE, 2, Duration.ofMinutes(3), Optional.empty());
    return engine -> {
      engine.leases().remote().keep(lease.key(), said);
      return "";
    };
  }

  /** One that needs two things, of which one is always taken, keeps the other for itself. */
  private static Action waited(Ground ground, ClaimRequest request) {
    Lease licence = ground.running(job("one").withResources("licence"));
    Lease node = ground.running(job("two").withResources("node"));
    ground.enqueue(job("both").withResources("licence", "node"));
    List<Lease> unusedNone = ground.claim();
    for (int seconds : List.of(20, 20, 25)) {
      ground.later(seconds);
      List<Extension> unusedBeat = ground.engine().leases().extend(List.of(licence, node));
    }
    ground
        .engine()
        .leases()
        .finish(List.of(new Finish(licence, Outcome.succeeded()))); // which wakes it
    return claim(request);
  }

  private static Action reportAgain(Ground ground) {
    Lease lease = ground.running(job("a"));
    ReportReply unused = ground.engine().leases().report(lease, ONCE);
    return report(lease, ONCE);
  }

  private static Action claim(ClaimRequest request) {
    return engine -> ids(engine.leases().claim(request).leases());
  }

  // Sorted: a repeat tells plain and guarded ones in one order, the first time they come one after
  // the other.
  private static String ids(List<Lease> leases) {
    return leases.stream().map(lease -> lease.key().jobId()).sorted().toList().toString();
  }

  private static Action extend(Ground ground) {
    PolicyOverrides longer = PolicyOverrides.NONE.withLeaseLength(Duration.ofMinutes(5));
    ground.enqueue(job("a"), job("b"), job("long").withPolicy(longer));
    List<Lease> leases =
        ground.claim().stream().filter(lease -> lease.length().toMinutes() < 5).toList();
    ground.later(3);
    return engine -> engine.leases().extend(leases).toString().replaceAll("fence=\\d+", "");
  }

  private static Action extendLost(Ground ground) {
    Lease lost = ground.running(job("lost"));
    ground.later(600);
    int unused = ground.engine().reaper().runOnce();
    Lease stays = ground.running(job("a"));
    ground.later(3);
    return engine ->
        engine.leases().extend(List.of(lost, stays)).toString().replaceAll("fence=\\d+", "");
  }

  private static Action reportLast(Ground ground) {
    return report(
        ground.running(GUARDED.withPolicy(PolicyOverrides.NONE.withTargetCount(2))), ONCE);
  }

  private static Action report(Ground ground, Report report) {
    return report(ground.running(job("a")), report);
  }

  private static Action report(Lease lease, Report report) {
    // That it was stored already is as good as that it was stored now.
    return engine ->
        engine.leases().report(lease, report) instanceof ReportReply.Lost ? "lost" : "stored";
  }
}
