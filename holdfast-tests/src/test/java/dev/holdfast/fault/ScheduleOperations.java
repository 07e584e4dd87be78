package dev.holdfast.fault;

import static dev.holdfast.fault.Ground.ADA;

import dev.holdfast.fault.Operation.Action;
import dev.holdfast.fault.Operation.Trait;
import dev.holdfast.job.Failure;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Outcome;
import dev.holdfast.lease.Finish;
import dev.holdfast.lease.Lease;
import dev.holdfast.schedule.Planned;
import dev.holdfast.schedule.Schedule;
import dev.holdfast.schedule.Ticker.Tick;
import dev.holdfast.schedule.Trigger;
import java.time.Duration;
import java.util.List;

/** What becomes of slots, and of those who are to be told that some were missed. */
final class ScheduleOperations {

  private static final String NAME = "minutely";
  private static final int GRACE_SECONDS = 300;

  private static final Schedule MINUTELY =
      Schedule.of(NAME, Trigger.every(Duration.ofMinutes(1)), NewJob.of("work", "slot"));

  private ScheduleOperations() {}

  static List<Operation> all() {
    return List.of(
        tick("tick: a slot is due", ScheduleOperations::due),
        tick("tick: slots were missed", ground -> due(ground).later(3_600)),
        tick("tick: nobody began a run", ScheduleOperations::neverBegun).inSteps(2),
        tick("tick: a run takes too long", ScheduleOperations::tooLong),
        Operation.ofWorker("finish: failure of a slot's job", ScheduleOperations::failure),
        Operation.of("disable a schedule that is late", ScheduleOperations::disable));
  }

  private interface Before {
    Ground on(Ground ground);
  }

  private static Operation tick(String name, Before before) {
    Operation.Setup setup =
        ground -> {
          before.on(ground);
          return engine -> {
            Tick unused = engine.ticker().tick();
            return "";
          };
        };
    return Operation.of(name, setup).with(Trait.MAY_DO_A_PART);
  }

  private static Ground due(Ground ground) {
    Planned unused = ground.engine().schedules().put(MINUTELY, ADA);
    return ground.later(61);
  }

  private static Ground fired(Ground ground) {
    Tick unused = due(ground).engine().ticker().tick();
    return ground;
  }

  private static Ground neverBegun(Ground ground) {
    return fired(ground).later(GRACE_SECONDS + 1);
  }

  private static Ground tooLong(Ground ground) {
    List<Lease> unused = fired(ground).claim();
    return ground.later(2 * GRACE_SECONDS + 1);
  }

  private static Action failure(Ground ground) {
    Lease lease = fired(ground).claim().getFirst();
    Finish failed = new Finish(lease, Outcome.failed(Failure.permanent("BAD", "never")));
    return engine -> engine.leases().finish(List.of(failed)).toString();
  }

  private static Action disable(Ground ground) {
    due(ground).later(120);
    return engine -> {
      Planned unused = engine.schedules().enable(NAME, false, ADA);
      return "";
    };
  }
}
