package dev.holdfast.fault;

import static dev.holdfast.fault.Ground.ADA;
import static dev.holdfast.fault.Ground.job;
import static dev.holdfast.fault.LeaseOperations.GUARDED;

import dev.holdfast.fault.Operation.Action;
import dev.holdfast.fault.Operation.Trait;
import dev.holdfast.job.Job;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.job.TimeLimit;
import dev.holdfast.lease.Lease;
import java.time.Duration;
import java.util.List;

/** What the reaper does for workers that fell silent. Each of its duties is a step. */
final class ReaperOperations {

  private ReaperOperations() {}

  static List<Operation> all() {
    return List.of(
        reaper("reap an expired lease", ReaperOperations::expired),
        reaper("reap a silent worker of a stopping job", ReaperOperations::stopping),
        reaper("reap what ran too long", ReaperOperations::timedOut),
        reaper("pass on what a silent worker held", ReaperOperations::passing),
        reaper("reap and pass on", ReaperOperations::both).inSteps(2),
        reaper("look after those who wait", ReaperOperations::forgotten));
  }

  private interface Before {
    void on(Ground ground);
  }

  private static Operation reaper(String name, Before before) {
    Operation.Setup setup =
        ground -> {
          before.on(ground);
          return run();
        };
    return Operation.ofWorker(name, setup).with(Trait.MAY_DO_A_PART);
  }

  private static Action run() {
    return engine -> {
      int unused = engine.reaper().runOnce();
      return "";
    };
  }

  private static void leased(Ground ground, NewJob job) {
    ground.enqueue(job);
    List<Lease> unused = ground.claim();
    ground.enqueue(job("waits").withResources("licence"), job("next").withTarget("crm"));
    unused = ground.claim();
  }

  private static void expired(Ground ground) {
    leased(ground, GUARDED);
    Lease unused = ground.running(job("plain"));
    ground.later(31); // over, but not yet the grace of what it held
  }

  private static void stopping(Ground ground) {
    leased(ground, GUARDED);
    Job unused = ground.engine().acts().stop(FinishOperations.guarded(), ADA);
    ground.later(31);
  }

  private static void timedOut(Ground ground) {
    PolicyOverrides quick =
        PolicyOverrides.NONE
            .withTimeout(TimeLimit.of(Duration.ofSeconds(5)))
            .withLeaseLength(Duration.ofMinutes(10));
    leased(ground, GUARDED.withPolicy(quick));
    ground.later(60);
  }

  private static void passing(Ground ground) {
    expired(ground);
    int unused = ground.engine().reaper().runOnce();
    ground.later(60);
  }

  private static void both(Ground ground) {
    leased(ground, GUARDED);
    ground.later(600);
  }

  // As if a wake-up had been lost: nobody has what they wait for.
  private static void forgotten(Ground ground) {
    leased(ground, GUARDED);
    ground.execute(
        """
        DELETE FROM {schema}.hold WHERE resource = 'licence';
        DELETE FROM {schema}.job WHERE waiting_on IS NULL;
        DELETE FROM {schema}.hold;
        """);
  }
}
