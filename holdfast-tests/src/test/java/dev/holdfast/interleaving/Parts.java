package dev.holdfast.interleaving;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.interleaving.Actor.Part;
import dev.holdfast.job.Failure;
import dev.holdfast.job.Item;
import dev.holdfast.job.JobAct;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Outcome;
import dev.holdfast.job.Payload;
import dev.holdfast.job.Placement;
import dev.holdfast.job.Policy.OnFailure;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.job.Subject;
import dev.holdfast.job.TimeLimit;
import dev.holdfast.lease.Extension.Status;
import dev.holdfast.lease.Finish;
import dev.holdfast.lease.Lease;
import dev.holdfast.lease.Report;
import dev.holdfast.queue.Changes;
import dev.holdfast.queue.QueueSettings;
import dev.holdfast.schedule.Schedule;
import dev.holdfast.schedule.Trigger;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** What somebody in a {@link Scenario} does, and the jobs they do it with. */
final class Parts {

  static final PolicyOverrides HOLDS = PolicyOverrides.NONE.withOnFailure(OnFailure.HOLD);

  static final PolicyOverrides TEN_SECONDS =
      PolicyOverrides.NONE.withTimeout(TimeLimit.of(Duration.ofSeconds(10)));

  static final PolicyOverrides FEW_TOKENS = PolicyOverrides.NONE.withTokenLimit(10);

  static final Report MANY_TOKENS = Report.ofUsage(20, 0);

  static final PolicyOverrides ONE_RESULT = PolicyOverrides.NONE.withTargetCount(1);

  static final Report A_RESULT = Report.ofItems(List.of(new Item("one", new Payload("1"))));

  static final QueueSettings PAUSED = QueueSettings.DEFAULTS.withPaused(true);

  static final QueueSettings ONE_AT_A_TIME = QueueSettings.DEFAULTS.withConcurrencyLimit(1);

  static final Subject SITE = Subject.of("site", "1", "deploying");

  private Parts() {}

  static NewJob onTarget() {
    return NewJob.of("deploy", 1).withTarget("t");
  }

  static NewJob inQueue(NewJob job) {
    return job.withQueue("narrow");
  }

  static NewJob unique() {
    return NewJob.of("deploy", 1).withUniqueKey("key");
  }

  static NewJob needs(String... resources) {
    return NewJob.of("deploy", 1).withResources(resources);
  }

  static Outcome failed() {
    return Outcome.failed(Failure.permanent("OOPS", "no"));
  }

  static Outcome snoozed() {
    return Outcome.snoozed(Duration.ZERO);
  }

  static Part claim(int limit) {
    return actor -> actor.got(actor.leases().claim(Scene.request("worker", limit)).leases());
  }

  /** Who gets something here never says that it starts. */
  static Part dispatched(Scene scene, int limit) {
    return actor -> {
      List<Lease> leases =
          actor.leases().claim(Scene.request("worker", limit).acknowledging()).leases();
      actor.got(leases);
      leases.forEach(scene::neverStarts);
    };
  }

  /** For two workers at once. */
  static void shared(Actor actor) {
    actor
        .leases()
        .remote()
        .claimForAll(List.of(Scene.request("left", 1), Scene.request("right", 1)))
        .hands()
        .forEach(hand -> hand.ifPresent(actor::got));
  }

  static Part inTurn(Part first, Part second) {
    return actor -> {
      first.play(actor);
      second.play(actor);
    };
  }

  static Part start(Scene scene, String job) {
    return actor -> {
      Lease lease = scene.lease(job);
      Status status =
          actor.leases().remote().start(lease.worker(), List.of(lease.key())).getFirst().status();
      if (status == Status.EXTENDED) {
        scene.told().started(lease);
      }
    };
  }

  static Part askStop(Scene scene, String job) {
    return actor -> {
      Lease lease = scene.lease(job);
      boolean unused = actor.leases().remote().requestStop(lease.worker(), lease.key());
    };
  }

  static Part report(Scene scene, String job, Report report) {
    return actor -> {
      var unused = actor.leases().report(scene.lease(job), report);
    };
  }

  static Part queue(QueueSettings settings) {
    return actor -> actor.queues().put("narrow", settings);
  }

  /** What it is told must be the id of a job that there is. */
  static Part enqueue(Scene scene, NewJob job) {
    return actor -> scene.enqueued(actor.jobs().enqueue(job).id());
  }

  /** What it is told about may be gone by now. */
  static Part enqueueAgain(NewJob job) {
    return actor -> {
      var unused = actor.jobs().enqueue(job);
    };
  }

  /** A worker of the same name starts. */
  static Part recover(Scene scene) {
    return actor -> {
      var unused = actor.slots().recover(List.of(Scene.WORKER), scene.now());
    };
  }

  static Part deleteSchedule() {
    return actor -> actor.schedules().delete("brief", Actor.ADA);
  }

  static Part repeatable(int limit) {
    return actor ->
        actor.got(
            actor.leases().claim(Scene.request("worker", limit).withClaimId("same")).leases());
  }

  static Part finish(Scene scene, String job, Outcome outcome) {
    return actor -> end(actor, scene, List.of(new Finish(scene.lease(job), outcome)));
  }

  /** One batch that says the same end twice, as when a repeat catches up with what it repeats. */
  static Part finishTwice(Scene scene, String job, Outcome outcome) {
    return actor -> {
      Finish end = new Finish(scene.lease(job), outcome);
      end(actor, scene, List.of(end, end));
    };
  }

  /** One batch, of which one job finishes and another goes back. */
  static Part finish(Scene scene, String succeeds, String goesBack) {
    return actor ->
        end(
            actor,
            scene,
            List.of(
                new Finish(scene.lease(goesBack), snoozed()),
                new Finish(scene.lease(succeeds), Outcome.succeeded())));
  }

  private static void end(Actor actor, Scene scene, List<Finish> ends) {
    scene.told().ended(ends, actor.leases().finish(ends));
  }

  static Part beat(Scene scene, String job) {
    return actor -> {
      Lease lease = scene.lease(job);
      if (actor.leases().extend(List.of(lease)).getFirst().status() == Status.EXTENDED) {
        scene.mustRun(lease);
      }
    };
  }

  static Part capacity(String resource, int capacity) {
    return actor -> actor.resources().setCapacity(resource, capacity, Actor.ADA);
  }

  static Part free(String resource) {
    return actor -> actor.resources().release(resource, Actor.ADA);
  }

  static Schedule minutely() {
    return Schedule.of("brief", Trigger.cron("* * * * *"), NewJob.of("deploy", 1));
  }

  static void tick(Actor actor) {
    actor.ticker().tick();
  }

  static Part put(Schedule schedule) {
    return actor -> actor.schedules().put(schedule, Actor.ADA);
  }

  /** Refused when somebody has the slot, or as many run as may. */
  static Part trigger(Scene scene) {
    return actor -> triggered(actor, scene.now());
  }

  /** A moment of its own, which nobody else can have; but as many may run as before. */
  static Part triggerAside(Scene scene) {
    return actor -> {
      if (triggered(actor, scene.now().plusSeconds(30))) {
        scene.oneSlotMore();
      }
    };
  }

  private static boolean triggered(Actor actor, Instant slot) {
    try {
      actor.schedules().trigger("brief", Optional.of(slot), Actor.ADA);
      return true;
    } catch (HoldfastException e) {
      if (e.code() != ErrorCode.STATE_CONFLICT) {
        throw e;
      }
      return false;
    }
  }

  static void reap(Actor actor) {
    actor.reaper().runOnce();
  }

  /** Refused when the other one was first and the job's state no longer allows it. */
  static Part act(Scene scene, String job, JobAct act) {
    return perform(scene, job, act, false, Changes.NONE);
  }

  static Part force(Scene scene, String job, JobAct act) {
    return perform(scene, job, act, true, Changes.NONE);
  }

  static Part reprioritise(Scene scene, String job, int priority) {
    return perform(scene, job, JobAct.CHANGE, false, Changes.NONE.withPriority(priority));
  }

  /** Nobody else changes the priority. */
  static Part reprioritiseAlone(Scene scene, String job, int priority) {
    return actor -> {
      reprioritise(scene, job, priority).play(actor);
      scene.mustStand(job, "priority", priority);
    };
  }

  /** Nobody else changes the host. */
  static Part place(Scene scene, String job, String host) {
    return actor -> {
      actor.acts().place(scene.job(job), Placement.preferring(host), Actor.ADA);
      scene.told().acted(scene.job(job), JobAct.CHANGE);
      scene.mustStand(job, "host", host);
    };
  }

  private static Part perform(Scene scene, String job, JobAct act, boolean force, Changes changes) {
    return actor -> scene.perform(actor.acts(), act, force, job, changes);
  }
}
