package dev.holdfast.fault;

import static dev.holdfast.fault.Ground.ADA;
import static dev.holdfast.fault.Ground.id;
import static dev.holdfast.fault.Ground.job;

import dev.holdfast.fault.Operation.Action;
import dev.holdfast.fault.Operation.CallersOwn;
import dev.holdfast.fault.Operation.Trait;
import dev.holdfast.job.Failure;
import dev.holdfast.job.Job;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Outcome;
import dev.holdfast.job.Payload;
import dev.holdfast.job.Policy.OnFailure;
import dev.holdfast.job.Policy.OnStop;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.lease.Finish;
import dev.holdfast.lease.FinishReply;
import dev.holdfast.lease.Lease;
import dev.holdfast.lease.Report;
import dev.holdfast.lease.ReportReply;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/** How attempts end, on their workers' word. */
final class FinishOperations {

  private static final Outcome SUCCESS = Outcome.succeeded(new Payload("{\"n\":1}"));
  private static final Outcome AGAIN = Outcome.failed(Failure.retryable("BUSY", "not now"));
  private static final Outcome UNSTORABLE = Outcome.succeeded(new Payload("{"));
  private static final Outcome FOR_GOOD = Outcome.failed(Failure.permanent("BAD", "never"));

  private static final NewJob HOLDS_ON =
      LeaseOperations.GUARDED.withPolicy(PolicyOverrides.NONE.withOnFailure(OnFailure.HOLD));
  private static final NewJob PAUSES =
      LeaseOperations.GUARDED.withPolicy(PolicyOverrides.NONE.withOnStop(OnStop.PAUSE));

  private FinishOperations() {}

  static List<Operation> all() {
    return List.of(
        finish("success", job("a"), SUCCESS),
        finish("success of a guarded job", LeaseOperations.GUARDED, SUCCESS),
        finish("failure", job("a"), FOR_GOOD),
        finish("failure that keeps its target", HOLDS_ON, FOR_GOOD),
        finish("a result that cannot be kept", job("a"), UNSTORABLE).with(Trait.MAY_HEAR_LOST),
        Operation.ofWorker("finish: over the token limit", FinishOperations::overTheLimit),
        finish("retry", job("a"), AGAIN),
        finish("retry of a guarded job", LeaseOperations.GUARDED, AGAIN),
        finish("snooze", job("a"), Outcome.snoozed(Duration.ofMinutes(1))),
        finish("release", LeaseOperations.GUARDED, new Outcome.Released("closing")),
        Operation.ofWorker("finish: stopped and paused", ground -> stopped(ground, PAUSES)),
        Operation.ofWorker("finish: stopped and cancelled", ground -> stopped(ground, job("a"))),
        Operation.ofWorker("finish: retry of a stopping job", FinishOperations::stopping),
        Operation.ofWorker("finish: a batch", FinishOperations::batch),
        Operation.ofWorker("finish: lost", FinishOperations::lost).inSteps(0),
        Operation.ofWorker("finish in a transaction", ground -> inTransaction(ground, job("a"))),
        Operation.ofWorker(
            "finish a guarded job in a transaction",
            ground -> inTransaction(ground, LeaseOperations.GUARDED)));
  }

  private static Operation finish(String name, NewJob job, Outcome outcome) {
    return Operation.ofWorker(
        "finish: " + name, ground -> finish(List.of(new Finish(leased(ground, job), outcome))));
  }

  /** Leased, while another waits for what it has. */
  private static Lease leased(Ground ground, NewJob job) {
    Lease lease = ground.running(job);
    if (!job.needs().isNothing()) {
      ground.enqueue(job("waits").withResources("licence"), job("next").withTarget("crm"));
      List<Lease> unused = ground.claim();
    }
    return lease;
  }

  private static Action finish(List<Finish> finished) {
    return engine -> engine.leases().finish(finished).toString();
  }

  private static Action stopped(Ground ground, NewJob job) {
    Lease lease = leased(ground, job);
    Job unused = ground.engine().acts().stop(lease.key().jobId(), ADA);
    return finish(List.of(new Finish(lease, new Outcome.Stopped())));
  }

  private static Action stopping(Ground ground) {
    Lease lease = leased(ground, PAUSES);
    Job unused = ground.engine().acts().stop(lease.key().jobId(), ADA);
    return finish(List.of(new Finish(lease, AGAIN)));
  }

  // It says that all went well, and has failed all the same.
  private static Action overTheLimit(Ground ground) {
    Lease lease = ground.running(job("a").withPolicy(PolicyOverrides.NONE.withTokenLimit(10)));
    ReportReply unused = ground.engine().leases().report(lease, Report.ofUsage(60, 50));
    return finish(List.of(new Finish(lease, SUCCESS)));
  }

  private static Action batch(Ground ground) {
    List<Finish> finished = new ArrayList<>();
    finished.add(new Finish(leased(ground, LeaseOperations.GUARDED), SUCCESS));
    finished.add(new Finish(ground.running(job("a")), SUCCESS));
    finished.add(new Finish(ground.running(job("b")), AGAIN));
    finished.add(new Finish(ground.running(job("c")), FOR_GOOD));
    return finish(finished);
  }

  private static Action lost(Ground ground) {
    Lease lease = ground.running(job("a"));
    ground.later(600);
    int unused = ground.engine().reaper().runOnce();
    return finish(List.of(new Finish(lease, SUCCESS)));
  }

  // Lost is what the second of two hears; either way the effect is there once.
  private static Action inTransaction(Ground ground, NewJob job) {
    Lease lease = leased(ground, job);
    return engine -> {
      FinishReply unused =
          engine
              .leases()
              .finishInTransaction(lease, connection -> effect(engine, connection, lease));
      return "done";
    };
  }

  private static Payload effect(Engine engine, Connection connection, Lease lease)
      throws CallersOwn {
    try (PreparedStatement statement =
        connection.prepareStatement(engine.sql("INSERT INTO {schema}.effect VALUES (?)"))) {
      statement.setObject(1, lease.key().jobId());
      statement.executeUpdate();
      return new Payload("1");
    } catch (SQLException e) {
      throw new CallersOwn(e);
    }
  }

  static UUID guarded() {
    return id("guarded");
  }
}
