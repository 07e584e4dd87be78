package dev.holdfast.interleaving;

import static dev.holdfast.interleaving.Parts.A_RESULT;
import static dev.holdfast.interleaving.Parts.FEW_TOKENS;
import static dev.holdfast.interleaving.Parts.MANY_TOKENS;
import static dev.holdfast.interleaving.Parts.ONE_AT_A_TIME;
import static dev.holdfast.interleaving.Parts.ONE_RESULT;
import static dev.holdfast.interleaving.Parts.PAUSED;
import static dev.holdfast.interleaving.Parts.act;
import static dev.holdfast.interleaving.Parts.askStop;
import static dev.holdfast.interleaving.Parts.capacity;
import static dev.holdfast.interleaving.Parts.claim;
import static dev.holdfast.interleaving.Parts.dispatched;
import static dev.holdfast.interleaving.Parts.enqueue;
import static dev.holdfast.interleaving.Parts.enqueueAgain;
import static dev.holdfast.interleaving.Parts.finish;
import static dev.holdfast.interleaving.Parts.finishTwice;
import static dev.holdfast.interleaving.Parts.force;
import static dev.holdfast.interleaving.Parts.inQueue;
import static dev.holdfast.interleaving.Parts.inTurn;
import static dev.holdfast.interleaving.Parts.needs;
import static dev.holdfast.interleaving.Parts.onTarget;
import static dev.holdfast.interleaving.Parts.place;
import static dev.holdfast.interleaving.Parts.queue;
import static dev.holdfast.interleaving.Parts.repeatable;
import static dev.holdfast.interleaving.Parts.report;
import static dev.holdfast.interleaving.Parts.reprioritiseAlone;
import static dev.holdfast.interleaving.Parts.snoozed;
import static dev.holdfast.interleaving.Parts.start;
import static dev.holdfast.interleaving.Parts.unique;

import dev.holdfast.interleaving.Actor.Part;
import dev.holdfast.job.JobAct;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Outcome;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;

/** Queues, remote workers, reports, ids and keys. */
@SuppressWarnings("ImmutableEnumChecker") // the lambdas keep nothing
enum WorkScenario implements Scenario {
  PAUSE_QUEUE_CLAIM(
      scene ->
          scene
              .enqueue("one", inQueue(needs("a")))
              .enqueue("two", inQueue(NewJob.of("deploy", 1)))
              .enqueue("three", needs("a")),
      scene -> List.of(queue(PAUSED), claim(3))),

  PAUSE_LIMITED_QUEUE_CLAIM(
      scene ->
          scene
              .queue(ONE_AT_A_TIME)
              .enqueue("one", inQueue(needs("a")))
              .enqueue("two", inQueue(needs("b"))),
      scene -> List.of(queue(ONE_AT_A_TIME.withPaused(true)), claim(2), claim(2))),

  CLAIM_CLAIM_OF_A_LIMITED_QUEUE(
      scene ->
          scene
              .queue(ONE_AT_A_TIME)
              .enqueue("one", inQueue(NewJob.of("deploy", 1)))
              .enqueue("two", inQueue(needs("a")))
              .enqueue("three", needs("a")),
      scene -> List.of(claim(2), claim(2))),

  CLAIM_FINISH_IN_A_LIMITED_QUEUE(
      scene ->
          scene
              .queue(ONE_AT_A_TIME)
              .enqueue("one", inQueue(needs("a")))
              .claim()
              .enqueue("two", inQueue(needs("a")))
              .enqueue("three", inQueue(NewJob.of("check", 1))),
      scene -> List.of(claim(2), claim(2), finish(scene, "one", Outcome.succeeded()))),

  RESUME_CLAIM(
      scene -> scene.enqueue("one", onTarget()).act("one", JobAct.PAUSE).enqueue("two", onTarget()),
      scene -> List.of(act(scene, "one", JobAct.RESUME), claim(2))),

  // The second waits behind a block that goes while another one runs.
  RESUME_FINISH_CLAIM(
      scene ->
          scene
              .enqueue("zero", onTarget())
              .claim()
              .enqueue("one", onTarget())
              .act("one", JobAct.PAUSE)
              .enqueue("two", onTarget()),
      scene ->
          List.of(
              act(scene, "one", JobAct.RESUME),
              finish(scene, "zero", Outcome.succeeded()),
              claim(2))),

  RESOLVE_CLAIM(
      scene ->
          scene
              .enqueue("one", onTarget())
              .act("one", JobAct.PAUSE)
              .enqueue("two", onTarget().withResources("a"))
              .claim(),
      scene -> List.of(act(scene, "one", JobAct.RESOLVE), claim(2))),

  RESOLVE_RESUME(
      scene ->
          scene
              .enqueue("one", onTarget())
              .act("one", JobAct.PAUSE)
              .enqueue("two", onTarget())
              .claim(),
      scene -> List.of(act(scene, "one", JobAct.RESOLVE), act(scene, "one", JobAct.RESUME))),

  FORCED_REQUEUE_FINISH_CLAIM(
      scene -> scene.enqueue("one", needs("a")).claim().enqueue("two", needs("a")).claim(),
      scene ->
          List.of(
              force(scene, "one", JobAct.REQUEUE),
              finish(scene, "one", Outcome.succeeded()),
              claim(2))),

  SAME_END_TWICE_CLAIM(
      scene -> scene.enqueue("one", needs("a")).claim().enqueue("two", needs("a")),
      scene -> List.of(finishTwice(scene, "one", snoozed()), claim(2))),

  // The one that finishes has the larger id, and its batch locks it first.
  REPEATED_CLAIM_FINISH(
      scene ->
          scene
              .enqueue("one", NewJob.of("deploy", 1))
              .enqueue("two", NewJob.of("deploy", 1))
              .claimUnderAnId(),
      scene -> List.of(repeatable(2), finish(scene, "two", "one"))),

  CHANGE_PLACE(
      scene -> scene.enqueue("one", needs("a")).enqueue("two", needs("a")),
      scene -> List.of(reprioritiseAlone(scene, "two", 3), place(scene, "two", "h"))),

  START_REAP(
      scene -> scene.enqueue("one", needs("a")).dispatch().enqueue("two", needs("a")).later(31),
      scene -> List.of(start(scene, "one"), Parts::reap)),

  START_REQUEUE_CLAIM(
      scene -> scene.enqueue("one", needs("a")).dispatch(),
      scene ->
          List.of(start(scene, "one"), act(scene, "one", JobAct.REQUEUE), dispatched(scene, 1))),

  // What needs nothing is given to the next one at once.
  START_REQUEUE_AND_CLAIM_OF_WHAT_NEEDS_NOTHING(
      scene -> scene.enqueue("one", NewJob.of("deploy", 1)).dispatch(),
      scene ->
          List.of(
              start(scene, "one"),
              inTurn(act(scene, "one", JobAct.REQUEUE), dispatched(scene, 1)))),

  // No lock of a resource keeps these apart.
  CANCEL_CLAIM_OF_WHAT_NEEDS_NOTHING(
      scene -> scene.enqueue("one", NewJob.of("deploy", 1)),
      scene -> List.of(act(scene, "one", JobAct.CANCEL), claim(1))),
  PAUSE_SNOOZE_OF_WHAT_NEEDS_NOTHING(
      scene -> scene.enqueue("one", NewJob.of("deploy", 1)).claim(),
      scene -> List.of(act(scene, "one", JobAct.PAUSE), finish(scene, "one", snoozed()))),

  START_STOP(
      scene -> scene.enqueue("one", onTarget()).dispatch().enqueue("two", onTarget()).claim(),
      scene -> List.of(start(scene, "one"), act(scene, "one", JobAct.STOP))),

  OWN_STOP_FINISH(
      scene -> scene.enqueue("one", onTarget()).claim().enqueue("two", onTarget()).claim(),
      scene -> List.of(askStop(scene, "one"), finish(scene, "one", snoozed()))),

  CLAIM_CLAIM_CAPACITY(
      scene ->
          scene
              .capacity("a", 2)
              .enqueue("one", needs("a"))
              .enqueue("two", needs("a"))
              .enqueue("three", needs("a")),
      scene -> List.of(claim(2), claim(2), capacity("a", 1))),

  SHARED_CLAIM_CLAIM(
      scene ->
          scene
              .enqueue("one", needs("a"))
              .enqueue("two", needs("a", "b"))
              .enqueue("three", NewJob.of("deploy", 1)),
      scene -> List.of(Parts::shared, claim(2))),

  UNIQUE_ENQUEUE_FINISH(
      scene -> scene.enqueue("one", unique()).claim(),
      scene -> List.of(enqueue(scene, unique()), finish(scene, "one", Outcome.succeeded()))),

  UNIQUE_ENQUEUE_ENQUEUE(
      scene -> scene.enqueue("other", NewJob.of("deploy", 1)),
      scene -> List.of(enqueue(scene, unique()), enqueue(scene, unique()), claim(2))),

  UNIQUE_ENQUEUE_RETRY(
      scene -> scene.enqueue("one", unique()).act("one", JobAct.CANCEL),
      scene -> List.of(enqueue(scene, unique()), act(scene, "one", JobAct.RETRY))),

  SAME_ID_ENQUEUE_FINISH(
      scene -> scene.enqueue("one", needs("a")).claim(),
      scene ->
          List.of(
              enqueue(scene, needs("a").withId(scene.job("one"))),
              finish(scene, "one", Outcome.succeeded()))),

  SAME_ID_ENQUEUE_DELETE(
      scene -> scene.enqueue("one", needs("a")).act("one", JobAct.CANCEL),
      scene ->
          List.of(
              enqueueAgain(needs("a").withId(scene.job("one"))), act(scene, "one", JobAct.DELETE))),

  TOKENS_FINISH(
      scene -> scene.enqueue("one", needs("a").withPolicy(FEW_TOKENS)).claim(),
      scene ->
          List.of(report(scene, "one", MANY_TOKENS), finish(scene, "one", Outcome.succeeded()))),

  TOKENS_CANCEL(
      scene -> scene.enqueue("one", onTarget().withPolicy(FEW_TOKENS)).claim(),
      scene -> List.of(report(scene, "one", MANY_TOKENS), act(scene, "one", JobAct.CANCEL))),

  LAST_RESULT_REAP(
      scene ->
          scene
              .enqueue("one", needs("a").withPolicy(ONE_RESULT))
              .claim()
              .enqueue("two", needs("a"))
              .claim()
              .later(31),
      scene -> List.of(report(scene, "one", A_RESULT), Parts::reap)),

  LAST_RESULT_STOP(
      scene ->
          scene
              .enqueue("one", onTarget().withPolicy(ONE_RESULT))
              .claim()
              .enqueue("two", onTarget())
              .claim(),
      scene -> List.of(report(scene, "one", A_RESULT), act(scene, "one", JobAct.PAUSE)));

  private final Consumer<Scene> before;
  private final Function<Scene, List<Part>> parts;

  WorkScenario(Consumer<Scene> before, Function<Scene, List<Part>> parts) {
    this.before = before;
    this.parts = parts;
  }

  @Override
  public void prepare(Scene scene) {
    before.accept(scene);
  }

  @Override
  public List<Part> parts(Scene scene) {
    return parts.apply(scene);
  }

  @Override
  public int plays() {
    return 12;
  }
}
