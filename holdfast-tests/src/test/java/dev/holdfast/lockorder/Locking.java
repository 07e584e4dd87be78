package dev.holdfast.lockorder;

import dev.holdfast.job.Outcome;
import dev.holdfast.job.Payload;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;

/** Whatever locks several rows that another may have, and waits for them. */
@SuppressWarnings("ImmutableEnumChecker") // the lambdas keep nothing
enum Locking {
  RESOURCES(Set.of("Holds.LOCK"), Ground::resources, Ground::lock),
  RESOURCES_SOON(Set.of("Holds.LOCK"), Ground::resources, Ground::lockSoon),
  NEW_RESOURCES(Set.of("Holds.MAKE"), Ground::noResources, Ground::make),

  SUCCEEDED_JOBS(
      Set.of("Successes.SUCCEED"),
      Ground::runningJobs,
      ground -> ground.finish(lease -> Outcome.succeeded())),
  FINISHED_JOBS(
      Set.of("Transitions.FINISH"),
      Ground::runningJobs,
      ground -> ground.finish(lease -> Outcome.succeeded(new Payload("1")))),
  RETURNED_JOBS(
      Set.of("Transitions.SEND_BACK"),
      Ground::runningJobs,
      ground -> ground.finish(lease -> snoozed())),
  // Each of the two in the order of ids, and always the same one first.
  FINISHED_AND_RETURNED_JOBS(
      Set.of("Transitions.FINISH", "Transitions.SEND_BACK"),
      Ground::runningJobsThatFinishFirst,
      ground -> ground.finish(lease -> ground.finishes(lease) ? Outcome.succeeded() : snoozed())),
  STOPPED_JOBS(
      Set.of("Stops.STOPPING"), Ground::stoppingJobs, ground -> ground.finish(lease -> snoozed())),
  WOKEN_JOBS(Set.of("Waiting.WAKE"), Ground::waitingJobs, Ground::wake),

  ENQUEUED_JOBS(Set.of("BulkInsert.INSERT"), Ground::noJobs, Ground::enqueue),

  AGENTS(Set.of("FencelessAgents.BEAT"), Ground::agents, Ground::hear),

  // One by one.
  SUBJECTS(Set.of("Subjects.MOVE"), Ground::subjects, ground -> ground.move(false)),
  OWN_SUBJECTS(Set.of("Subjects.MOVE_OWN"), Ground::subjects, ground -> ground.move(true)),

  SLOTS(Set.of("Slots.FOLLOW"), Ground::slots, Ground::follow),
  SKIPPED_SLOTS(Set.of("Slots.SKIP"), Ground::noSlots, Ground::skip);

  private final Set<String> statements;
  private final Function<Ground, List<Row>> rows;
  private final Consumer<Ground> lock;

  Locking(Set<String> statements, Function<Ground, List<Row>> rows, Consumer<Ground> lock) {
    this.statements = statements;
    this.rows = rows;
    this.lock = lock;
  }

  Set<String> statements() {
    return statements;
  }

  /** Answers the rows in the order in which they are to be locked. */
  List<Row> prepare(Ground ground) {
    return rows.apply(ground);
  }

  void lock(Ground ground) {
    lock.accept(ground);
  }

  private static Outcome snoozed() {
    return Outcome.snoozed(Duration.ZERO);
  }
}
