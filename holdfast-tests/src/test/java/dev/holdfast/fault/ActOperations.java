package dev.holdfast.fault;

import static dev.holdfast.fault.Ground.ADA;
import static dev.holdfast.fault.Ground.id;
import static dev.holdfast.fault.Ground.job;
import static dev.holdfast.fault.LeaseOperations.GUARDED;

import dev.holdfast.fault.Operation.Action;
import dev.holdfast.job.Failure;
import dev.holdfast.job.Job;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Outcome;
import dev.holdfast.job.Placement;
import dev.holdfast.job.Policy.OnFailure;
import dev.holdfast.job.Policy.OnStop;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.lease.Finish;
import dev.holdfast.lease.Lease;
import dev.holdfast.queue.Acts;
import dev.holdfast.queue.Changes;
import dev.holdfast.queue.QueueSettings;
import java.util.List;
import java.util.UUID;

/** What people do. */
final class ActOperations {

  private static final UUID IT = id("guarded");

  private static final NewJob PAUSES =
      GUARDED.withPolicy(PolicyOverrides.NONE.withOnStop(OnStop.PAUSE));
  private static final NewJob HOLDS_ON =
      GUARDED.withPolicy(PolicyOverrides.NONE.withOnFailure(OnFailure.HOLD));

  private ActOperations() {}

  private interface Deed {
    Job on(Acts acts);
  }

  private interface Before {
    void on(Ground ground);
  }

  static List<Operation> all() {
    return List.of(
        act("cancel a queued job", ActOperations::queued, acts -> acts.cancel(IT, ADA)),
        act("cancel a running job", ActOperations::running, acts -> acts.cancel(IT, ADA)),
        act(
            "cancel a running job by force",
            ActOperations::running,
            acts -> acts.cancel(IT, ADA.withForce())),
        act(
            "cancel a failed job by force",
            ActOperations::failed,
            acts -> acts.cancel(IT, ADA.withForce())),
        act(
            "give a queued job to another host",
            ActOperations::placed,
            acts -> acts.place(IT, Placement.preferring("there"), ADA)),
        act("stop a queued job", ground -> queued(ground, PAUSES), acts -> acts.stop(IT, ADA)),
        act("stop a running job", ActOperations::running, acts -> acts.stop(IT, ADA)),
        act("pause a queued job", ActOperations::queued, acts -> acts.pause(IT, ADA)),
        act("pause a running job", ActOperations::running, acts -> acts.pause(IT, ADA)),
        act("resume a paused job", ActOperations::paused, acts -> acts.resume(IT, ADA)),
        act("resume a failed job", ActOperations::failed, acts -> acts.resume(IT, ADA)),
        act("retry", ActOperations::failed, acts -> acts.retry(IT, ADA)),
        act(
            "requeue a running job",
            ActOperations::running,
            acts -> acts.requeue(IT, ADA.withForce())),
        act(
            "requeue a finished job",
            ActOperations::failed,
            acts -> acts.requeue(IT, ADA.withForce())),
        act("fail a running job", ActOperations::running, acts -> acts.fail(IT, ADA)),
        act(
            "fail a queued job",
            ground -> queued(ground, HOLDS_ON),
            acts -> acts.fail(IT, ADA.withForce())),
        act("resolve a paused job", ActOperations::paused, acts -> acts.resolve(IT, 1, ADA)),
        act("resolve a failed job", ActOperations::failed, acts -> acts.resolve(IT, 1, ADA)),
        act("change", ActOperations::queued, acts -> acts.change(IT, otherwise(), ADA)),
        act("change into another lane", ActOperations::withoutLane, ActOperations::moveUp)
            .inSteps(2),
        Operation.act(
            "delete",
            ground -> {
              failed(ground);
              return engine -> {
                engine.acts().delete(IT, ADA);
                return "";
              };
            }),
        Operation.act("release a target", ActOperations::release),
        Operation.act("more capacity", ActOperations::moreCapacity),
        Operation.act("queue settings", ActOperations::settings));
  }

  private static Operation act(String name, Before before, Deed deed) {
    return Operation.act(
        name,
        ground -> {
          before.on(ground);
          return engine -> deed.on(engine.acts()).state().stored();
        });
  }

  private static Changes otherwise() {
    return Changes.NONE.withTags(List.of("late"));
  }

  private static Job moveUp(Acts acts) {
    return acts.change(IT, Changes.NONE.withPriority(-9), ADA);
  }

  private static void queued(Ground ground) {
    queued(ground, GUARDED);
  }

  /** Others wait behind it. */
  private static void queued(Ground ground, NewJob job) {
    ground.enqueue(job, job("next").withTarget("crm"));
  }

  private static void withoutLane(Ground ground) {
    ground.execute("DELETE FROM {schema}.lane WHERE priority = -9");
    queued(ground);
  }

  // Once, so that its lane is there.
  private static void placed(Ground ground) {
    queued(ground);
    Job unused = ground.engine().acts().place(IT, Placement.preferring("there"), ADA);
    unused = ground.engine().acts().place(IT, Placement.ANYWHERE, ADA);
  }

  private static void running(Ground ground) {
    Lease unused = leased(ground);
  }

  private static Lease leased(Ground ground) {
    Lease lease = ground.running(HOLDS_ON);
    ground.enqueue(job("waits").withResources("licence"), job("next").withTarget("crm"));
    List<Lease> unused = ground.claim();
    return lease;
  }

  private static void paused(Ground ground) {
    queued(ground);
    Job unused = ground.engine().acts().pause(IT, ADA);
  }

  private static void failed(Ground ground) {
    Outcome failed = Outcome.failed(Failure.permanent("BAD", "never"));
    ground.engine().leases().finish(List.of(new Finish(leased(ground), failed)));
  }

  private static Action release(Ground ground) {
    failed(ground);
    return engine -> engine.resources().release("target:crm", ADA).blocks().toString();
  }

  private static Action moreCapacity(Ground ground) {
    running(ground);
    return engine -> {
      engine.resources().setCapacity("licence", 3, ADA);
      return "";
    };
  }

  private static Action settings(Ground ground) {
    queued(ground);
    return engine -> {
      engine.queues().put("limited", QueueSettings.DEFAULTS.withConcurrencyLimit(4));
      return "";
    };
  }
}
