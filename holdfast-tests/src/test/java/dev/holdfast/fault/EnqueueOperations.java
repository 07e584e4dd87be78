package dev.holdfast.fault;

import static dev.holdfast.fault.Ground.id;
import static dev.holdfast.fault.Ground.job;

import dev.holdfast.fault.Operation.Action;
import dev.holdfast.fault.Operation.CallersOwn;
import dev.holdfast.fault.Operation.Trait;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Outcome;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.job.Subject;
import dev.holdfast.lease.Finish;
import dev.holdfast.queue.Enqueued;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;

/** Putting jobs in. */
final class EnqueueOperations {

  private static final NewJob UNKEYED = NewJob.of("work", "unkeyed");

  private static final NewJob FULL =
      job("full")
          .withUniqueKey("key")
          .withTags("red", "green")
          .withDelay(Duration.ofSeconds(5))
          .withResources("licence")
          .withTarget("crm")
          .withSubject(Subject.of("site", "7", "deploying"))
          .withPolicy(PolicyOverrides.NONE.withMaxAttempts(3));

  private EnqueueOperations() {}

  static List<Operation> all() {
    return List.of(
        Operation.of("enqueue", known(UNKEYED, engine -> one(engine, UNKEYED)))
            .with(Trait.HAS_NO_KEY),
        Operation.of("enqueue with an id", known(job("a"), engine -> one(engine, job("a")))),
        Operation.of(
            "enqueue with a unique key",
            known(
                UNKEYED.withUniqueKey("key"),
                engine -> created(engine.jobs().enqueue(UNKEYED.withUniqueKey("key"))))),
        Operation.of("enqueue with everything", known(FULL, engine -> one(engine, FULL))),
        Operation.of("enqueue the id of a finished job", EnqueueOperations::finishedBefore)
            .inSteps(0),
        Operation.of("enqueue the key of a job that waits", EnqueueOperations::thereBefore)
            .inSteps(0),
        Operation.of("enqueue the first job of a lane", EnqueueOperations::firstOfItsLane)
            .inSteps(2),
        Operation.of("enqueue many", known(UNKEYED, engine -> many(engine, unkeyed())))
            .with(Trait.HAS_NO_KEY),
        Operation.of(
                "enqueue many that need nothing",
                known(UNKEYED, engine -> many(engine, List.of(UNKEYED, UNKEYED))))
            .with(Trait.HAS_NO_KEY),
        Operation.of("enqueue many with ids", known(FULL, engine -> many(engine, keyed()))),
        Operation.of("enqueue many of which some are there", EnqueueOperations::someThereBefore),
        Operation.of("enqueue in a caller's transaction", known(FULL, inTransaction(FULL))),
        Operation.of(
            "enqueue many in a caller's transaction",
            known(
                FULL,
                engine ->
                    callers(
                        engine,
                        connection -> {
                          List<Enqueued> unused = engine.jobs().enqueueAll(connection, keyed());
                          return "all";
                        }))));
  }

  /** After the jobs' lanes were made, by another job. */
  private static Operation.Setup known(NewJob like, Action action) {
    return ground -> {
      NewJob before = NewJob.of(like.kind(), "before");
      ground.enqueue(before, before.withResources("other"));
      return action;
    };
  }

  private static Action finishedBefore(Ground ground) {
    ground
        .engine()
        .leases()
        .finish(List.of(new Finish(ground.running(job("a")), Outcome.succeeded())));
    return engine -> created(engine.jobs().enqueue(job("a")));
  }

  private static Action thereBefore(Ground ground) {
    ground.enqueue(job("a").withUniqueKey("key"));
    return engine -> created(engine.jobs().enqueue(UNKEYED.withUniqueKey("key")));
  }

  private static Action someThereBefore(Ground ground) {
    ground.enqueue(job("c").withUniqueKey("other"));
    return engine -> many(engine, keyed());
  }

  private static Action firstOfItsLane(Ground ground) {
    ground.execute("DELETE FROM {schema}.lane WHERE kind = 'rare'");
    return engine -> idOf(engine.jobs().enqueue(NewJob.of("rare", 1).withId(id("a"))));
  }

  private static List<NewJob> unkeyed() {
    return List.of(UNKEYED, UNKEYED.withTags("red"), UNKEYED.withResources("licence"));
  }

  private static List<NewJob> keyed() {
    return List.of(
        job("b"), FULL, UNKEYED.withUniqueKey("other"), job("a").withDelay(Duration.ofSeconds(3)));
  }

  private static Action inTransaction(NewJob job) {
    return engine -> callers(engine, connection -> idOf(engine.jobs().enqueue(connection, job)));
  }

  private static String one(Engine engine, NewJob job) {
    Enqueued enqueued = engine.jobs().enqueue(job);
    return job.id().isPresent() ? idOf(enqueued) : "";
  }

  private static String many(Engine engine, List<NewJob> jobs) {
    return engine.jobs().enqueueAll(jobs).size() + " jobs";
  }

  // Whether it was new is no part of the answer: a repeat says truly that it was not.
  private static String idOf(Enqueued enqueued) {
    return enqueued.id().toString();
  }

  private static String created(Enqueued enqueued) {
    return enqueued.id().equals(id("a")) ? "the same" : "";
  }

  /** As an application does it that has its own transaction. */
  private static String callers(Engine engine, Function<Connection, String> work)
      throws CallersOwn {
    try (Connection connection = engine.dataSource().getConnection()) {
      connection.setAutoCommit(false);
      try {
        String answer = work.apply(connection);
        connection.commit();
        return answer;
      } finally {
        if (!connection.isClosed()) {
          connection.rollback();
          connection.setAutoCommit(true);
        }
      }
    } catch (SQLException e) {
      throw new CallersOwn(e);
    }
  }
}
