package dev.holdfast.fault;

import static dev.holdfast.fault.Ground.ADA;
import static dev.holdfast.fault.Ground.WORKER;

import dev.holdfast.fault.Operation.Action;
import dev.holdfast.fault.Operation.Trait;
import dev.holdfast.job.Failure;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Outcome;
import dev.holdfast.lease.Finish;
import dev.holdfast.lease.Lease;
import dev.holdfast.schedule.Planned;
import dev.holdfast.schedule.Schedule;
import dev.holdfast.schedule.Scheduler;
import dev.holdfast.schedule.Ticker.Tick;
import dev.holdfast.schedule.Trigger;
import dev.holdfast.slot.Slots;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** Schedules: what people and applications say of them, and what is decided about their slots. */
final class ScheduleOperations {

  private static final Schedule MINUTELY =
      Schedule.of("brief", Trigger.cron("* * * * *"), NewJob.of("work", "brief"))
          .withExpectedRuntime(Duration.ofSeconds(20))
          .withMisfireGrace(Duration.ofMinutes(2));

  private ScheduleOperations() {}

  static List<Operation> all() {
    return List.of(
        Operation.of("put a schedule", ground -> put(MINUTELY)),
        Operation.of("change a schedule whose slots are due", ScheduleOperations::changeDue),
        Operation.act("delete a schedule whose slots are due", ScheduleOperations::deleteDue),
        Operation.of("declare schedules, and one no more", ScheduleOperations::declare).inSteps(2),
        Operation.act("trigger", ScheduleOperations::trigger),
        Operation.of("decide: a slot fires", ground -> tick(due(ground, 60)))
            .with(Trait.MAY_DO_A_PART),
        Operation.of("decide: slots are late, or coalesced", ground -> tick(due(ground, 400)))
            .with(Trait.MAY_DO_A_PART),
        Operation.of("decide: nobody came for the last one", ScheduleOperations::neverStarted)
            .inSteps(2)
            .with(Trait.MAY_DO_A_PART),
        Operation.of("decide: the last one takes too long", ScheduleOperations::tooLong)
            .with(Trait.MAY_DO_A_PART),
        Operation.of("decide for many tenants", ScheduleOperations::scheduler)
            .with(Trait.MAY_DO_A_PART),
        Operation.ofWorker("finish: failure of a slot's job", ScheduleOperations::failure),
        Operation.of("recover runs at a worker's start", ScheduleOperations::recover),
        Operation.of("end runs of schedules that are no more", ScheduleOperations::orphans));
  }

  private static Action put(Schedule schedule) {
    return engine -> engine.schedules().put(schedule, ADA).schedule().name();
  }

  private static Ground due(Ground ground, int seconds) {
    Planned unused = ground.engine().schedules().put(MINUTELY, ADA);
    ground.engine().jobs().prepare(MINUTELY.job().withResources("its own")); // the lane is there
    return ground.later(seconds);
  }

  private static Action changeDue(Ground ground) {
    Ground unused = due(ground, 120);
    return put(MINUTELY.withEnabled(false));
  }

  private static Action deleteDue(Ground ground) {
    Ground unused = due(ground, 120);
    return engine -> {
      engine.schedules().delete("brief", ADA);
      return "";
    };
  }

  private static Action declare(Ground ground) {
    ground.engine().schedules().declare("app", List.of(MINUTELY));
    Schedule other = Schedule.of("digest", Trigger.cron("0 4 * * *"), NewJob.of("work", "digest"));
    return engine -> {
      engine.schedules().declare("app", List.of(other));
      return "";
    };
  }

  private static Action trigger(Ground ground) {
    Ground at = due(ground, 30);
    return engine -> {
      UUID unused = engine.schedules().trigger("brief", Optional.of(at.now()), ADA);
      return "";
    };
  }

  private static Action tick(Ground unused) {
    return engine -> {
      Tick unusedTick = engine.ticker().tick();
      return "";
    };
  }

  private static Lease started(Ground ground) {
    UUID job = ground.engine().schedules().trigger("brief", Optional.empty(), ADA);
    return ground.claim().stream()
        .filter(lease -> lease.key().jobId().equals(job))
        .findFirst()
        .orElseThrow();
  }

  private static Action neverStarted(Ground ground) {
    UUID unused = due(ground, 30).engine().schedules().trigger("brief", Optional.empty(), ADA);
    return tick(ground.later(150));
  }

  private static Action tooLong(Ground ground) {
    Lease unused = started(due(ground, 30));
    return tick(ground.later(90));
  }

  private static Action failure(Ground ground) {
    Lease lease = started(due(ground, 30));
    Finish failed = new Finish(lease, Outcome.failed(Failure.permanent("BAD", "never")));
    return engine -> engine.leases().finish(List.of(failed)).toString();
  }

  private static Action scheduler(Ground ground) {
    Ground unused = due(ground, 60);
    return engine -> {
      try (Scheduler scheduler =
          new Scheduler(() -> List.of(engine.tenant()), tenant -> engine.ticker())) {
        Duration unusedPause = scheduler.runOnce();
        return "";
      }
    };
  }

  /** A run whose worker fell silent: its job has failed, and its slot is left as it is. */
  private static Ground abandoned(Ground ground) {
    Lease unused = started(due(ground, 30));
    ground.later(31);
    int unusedEnded = ground.engine().reaper().runOnce();
    return ground;
  }

  private static Action recover(Ground ground) {
    Ground at = abandoned(ground);
    return engine ->
        String.valueOf(
            new Slots(engine.tenant().db()).recover(List.of(WORKER), at.now()).stillLeased());
  }

  private static Action orphans(Ground ground) {
    abandoned(ground).engine().schedules().delete("brief", ADA);
    return engine -> {
      int unused = new Slots(engine.tenant().db()).endOrphans();
      return "";
    };
  }
}
