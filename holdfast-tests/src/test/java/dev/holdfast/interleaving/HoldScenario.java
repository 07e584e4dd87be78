package dev.holdfast.interleaving;

import static dev.holdfast.interleaving.Parts.HOLDS;
import static dev.holdfast.interleaving.Parts.SITE;
import static dev.holdfast.interleaving.Parts.TEN_SECONDS;
import static dev.holdfast.interleaving.Parts.act;
import static dev.holdfast.interleaving.Parts.beat;
import static dev.holdfast.interleaving.Parts.capacity;
import static dev.holdfast.interleaving.Parts.claim;
import static dev.holdfast.interleaving.Parts.enqueueAgain;
import static dev.holdfast.interleaving.Parts.failed;
import static dev.holdfast.interleaving.Parts.finish;
import static dev.holdfast.interleaving.Parts.force;
import static dev.holdfast.interleaving.Parts.free;
import static dev.holdfast.interleaving.Parts.inTurn;
import static dev.holdfast.interleaving.Parts.needs;
import static dev.holdfast.interleaving.Parts.onTarget;
import static dev.holdfast.interleaving.Parts.repeatable;
import static dev.holdfast.interleaving.Parts.reprioritise;
import static dev.holdfast.interleaving.Parts.snoozed;
import static dev.holdfast.interleaving.Parts.start;

import dev.holdfast.interleaving.Actor.Part;
import dev.holdfast.job.JobAct;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Outcome;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;

/** Claims, ends and acts that meet at resources, targets and subjects. */
@SuppressWarnings("ImmutableEnumChecker") // the lambdas keep nothing
enum HoldScenario implements Scenario {
  CLAIM_CLAIM(
      scene -> scene.enqueue("one", needs("a")).enqueue("two", needs("a")),
      scene -> List.of(claim(2), claim(2))),

  CLAIM_CLAIM_CROSSWISE(
      scene ->
          scene
              .enqueue("one", needs("b"))
              .enqueue("two", needs("a", "b"))
              .enqueue("three", needs("a")),
      scene -> List.of(claim(2), claim(2))),

  CLAIM_CLAIM_OF_ONE_TARGET(
      scene ->
          scene
              .enqueue("one", NewJob.of("deploy", 1).withTarget("t"))
              .enqueue("two", NewJob.of("deploy", 1).withTarget("t").withResources("a"))
              .enqueue("three", needs("a")),
      scene -> List.of(claim(1), claim(2))),

  // Without a resource whose lock would keep them apart.
  CLAIM_CLAIM_FOR_A_SUBJECT(
      scene -> scene.enqueue("one", NewJob.of("deploy", 1).withSubject(SITE)),
      scene -> List.of(claim(1), claim(1))),

  CLAIM_CLAIM_UNDER_ONE_ID(
      scene -> scene.enqueue("one", needs("a")).enqueue("two", needs("b")),
      scene -> List.of(repeatable(1), repeatable(1))),

  CLAIM_FINISH(
      scene -> scene.enqueue("one", needs("a")).claim().enqueue("two", needs("a")),
      scene -> List.of(claim(2), finish(scene, "one", Outcome.succeeded()))),

  PARK_RELEASE(
      scene ->
          scene
              .enqueue("one", needs("a", "b"))
              .claim()
              .enqueue("two", needs("b"))
              .enqueue("three", needs("a", "b")),
      scene -> List.of(claim(2), finish(scene, "one", Outcome.succeeded()))),

  PARK_RELEASE_ON_A_TARGET(
      scene ->
          scene
              .enqueue("one", NewJob.of("deploy", 1).withTarget("t"))
              .claim()
              .enqueue("two", NewJob.of("deploy", 1).withTarget("t"))
              .enqueue("three", NewJob.of("check", 1).withTarget("t")),
      scene -> List.of(claim(2), finish(scene, "one", failed()))),

  PARK_CANCEL(
      scene ->
          scene
              .enqueue("one", needs("a"))
              .enqueue("two", needs("a", "b"))
              .enqueue("three", needs("b")),
      scene -> List.of(claim(3), act(scene, "two", JobAct.CANCEL))),

  PARK_CANCEL_ON_A_NEW_TARGET(
      scene ->
          scene
              .enqueue("one", NewJob.of("deploy", 1).withTarget("t"))
              .enqueue("two", NewJob.of("deploy", 1).withTarget("t")),
      scene -> List.of(act(scene, "one", JobAct.CANCEL), claim(2))),

  CANCEL_OF_THE_WOKEN(
      scene ->
          scene
              .enqueue("one", needs("a"))
              .claim()
              .enqueue("two", needs("a"))
              .enqueue("three", needs("a"))
              .claim(),
      scene ->
          List.of(finish(scene, "one", Outcome.succeeded()), act(scene, "two", JobAct.CANCEL))),

  RELEASE_RELEASE(
      scene ->
          scene
              .enqueue("one", needs("a"))
              .enqueue("two", needs("b"))
              .claim()
              .enqueue("three", needs("a", "b"))
              .claim(),
      scene ->
          List.of(
              finish(scene, "one", Outcome.succeeded()),
              finish(scene, "two", Outcome.succeeded()))),

  FINISH_REAP(
      scene ->
          scene.enqueue("one", needs("a")).claim().enqueue("two", needs("a")).claim().later(31),
      scene -> List.of(finish(scene, "one", Outcome.succeeded()), Parts::reap)),

  FINISH_REAP_AND_PASS_ON(
      scene ->
          scene.enqueue("one", needs("a")).claim().enqueue("two", needs("a")).claim().later(40),
      scene -> List.of(finish(scene, "one", failed()), Parts::reap)),

  BEAT_REAP(
      scene -> scene.enqueue("one", needs("a")).claim().later(31),
      scene -> List.of(beat(scene, "one"), Parts::reap)),

  STOP_FINISH(
      scene ->
          scene
              .enqueue("one", NewJob.of("deploy", 1).withTarget("t"))
              .claim()
              .enqueue("two", NewJob.of("deploy", 1).withTarget("t"))
              .claim(),
      scene -> List.of(act(scene, "one", JobAct.STOP), finish(scene, "one", failed()))),

  PAUSE_FINISH(
      scene ->
          scene
              .enqueue("one", NewJob.of("deploy", 1).withTarget("t"))
              .claim()
              .enqueue("two", NewJob.of("deploy", 1).withTarget("t"))
              .claim(),
      scene -> List.of(act(scene, "one", JobAct.PAUSE), finish(scene, "one", snoozed()))),

  FORCED_REQUEUE_FINISH(
      scene -> scene.enqueue("one", needs("a")).claim().enqueue("two", needs("a")).claim(),
      scene ->
          List.of(force(scene, "one", JobAct.REQUEUE), finish(scene, "one", Outcome.succeeded()))),

  FORCED_REQUEUE_OF_THE_STOPPING_FINISH(
      scene ->
          scene
              .enqueue("one", onTarget())
              .claim()
              .enqueue("two", onTarget())
              .claim()
              .act("one", JobAct.PAUSE),
      scene -> List.of(force(scene, "one", JobAct.REQUEUE), finish(scene, "one", snoozed()))),

  FORCED_CANCEL_CLAIM(
      scene -> scene.enqueue("one", needs("a")).claim().enqueue("two", needs("a")),
      scene -> List.of(force(scene, "one", JobAct.CANCEL), claim(2))),

  // The subject moves with the start, or not at all.
  START_FORCED_CANCEL_FOR_A_SUBJECT(
      scene -> scene.enqueue("one", NewJob.of("deploy", 1).withSubject(SITE)).dispatch(),
      scene -> List.of(start(scene, "one"), force(scene, "one", JobAct.CANCEL))),

  START_FORCED_CANCEL_CLAIM_FOR_ONE_SUBJECT(
      scene ->
          scene
              .enqueue("one", NewJob.of("deploy", 1).withSubject(SITE))
              .dispatch()
              .enqueue("two", NewJob.of("deploy", 1).withSubject(SITE)),
      scene -> List.of(start(scene, "one"), force(scene, "one", JobAct.CANCEL), claim(1))),

  FORCED_CANCEL_REAP(
      scene ->
          scene.enqueue("one", needs("a")).claim().enqueue("two", needs("a")).claim().later(31),
      scene -> List.of(force(scene, "one", JobAct.CANCEL), Parts::reap)),

  DELETE_FINISH(
      scene ->
          scene
              .enqueue("one", needs("a"))
              .claim()
              .enqueue("two", needs("a"))
              .claim()
              .force("one", JobAct.CANCEL),
      scene ->
          List.of(act(scene, "one", JobAct.DELETE), finish(scene, "one", Outcome.succeeded()))),

  RETRY_CLAIM(
      scene ->
          scene
              .enqueue("one", onTarget().withPolicy(HOLDS))
              .claim()
              .finish("one", failed())
              .enqueue("two", onTarget()),
      scene -> List.of(act(scene, "one", JobAct.RETRY), claim(2))),

  CHANGE_CLAIM(
      scene -> scene.enqueue("one", onTarget().withResources("a")).enqueue("two", onTarget()),
      scene -> List.of(reprioritise(scene, "one", 5), claim(2))),

  CHANGE_OF_THE_WOKEN(
      scene ->
          scene
              .enqueue("one", needs("a"))
              .claim()
              .enqueue("two", needs("a"))
              .enqueue("three", needs("a"))
              .claim(),
      scene ->
          List.of(
              finish(scene, "one", Outcome.succeeded()), reprioritise(scene, "two", 5), claim(1))),

  TIMEOUT_REAP_FINISH(
      scene ->
          scene
              .enqueue("one", needs("a").withPolicy(TEN_SECONDS))
              .claim()
              .enqueue("two", needs("a"))
              .claim()
              .later(13),
      scene -> List.of(Parts::reap, finish(scene, "one", Outcome.succeeded()))),

  PAUSE_CLAIM(
      scene ->
          scene
              .enqueue("one", NewJob.of("deploy", 1).withTarget("t").withResources("a"))
              .enqueue("two", NewJob.of("deploy", 1).withTarget("t")),
      scene -> List.of(act(scene, "one", JobAct.PAUSE), claim(2))),

  MORE_CAPACITY_CLAIM(
      scene -> scene.enqueue("one", needs("a")).claim().enqueue("two", needs("a")).atMost(2),
      scene -> List.of(claim(2), capacity("a", 2))),

  LESS_CAPACITY_CLAIM(
      scene ->
          scene
              .capacity("a", 2)
              .enqueue("one", needs("a"))
              .claim()
              .enqueue("two", needs("a"))
              .enqueue("three", needs("a")),
      scene -> List.of(claim(2), capacity("a", 1))),

  PARK_RELEASE_CANCEL(
      scene ->
          scene
              .enqueue("one", needs("a"))
              .claim()
              .enqueue("two", needs("a"))
              .enqueue("three", needs("a")),
      scene ->
          List.of(
              claim(1),
              finish(scene, "one", Outcome.succeeded()),
              act(scene, "two", JobAct.CANCEL))),

  CLAIM_CLAIM_RELEASE(
      scene ->
          scene
              .enqueue("one", needs("a", "b"))
              .claim()
              .enqueue("two", needs("b"))
              .enqueue("three", needs("a", "b")),
      scene -> List.of(finish(scene, "one", Outcome.succeeded()), claim(2), claim(2))),

  // Whoever looked before the others parked and woke must look again.
  STALE_CLAIM(
      scene ->
          scene
              .enqueue("one", needs("a"))
              .enqueue("other", needs("b"))
              .claim()
              .enqueue("two", needs("a", "b"))
              .enqueue("three", needs("a")),
      scene -> List.of(claim(2), claim(2), finish(scene, "one", Outcome.succeeded()))),

  // The job that gets the locks of what the first one needed is another one by then.
  CLAIM_OF_AN_ID_ENQUEUED_AGAIN(
      scene -> scene.enqueue("other", needs("b")).claim().enqueue("one", needs("a")),
      scene ->
          List.of(
              claim(2),
              inTurn(
                  inTurn(act(scene, "one", JobAct.CANCEL), act(scene, "one", JobAct.DELETE)),
                  enqueueAgain(needs("b").withId(scene.job("one")))))),

  FREE_CLAIM(
      scene ->
          scene
              .capacity("target:t", 1)
              .enqueue("one", NewJob.of("deploy", 1).withTarget("t"))
              .act("one", JobAct.PAUSE)
              .enqueue("two", NewJob.of("deploy", 1).withTarget("t")),
      scene -> List.of(claim(2), free("target:t")));

  private final Consumer<Scene> before;
  private final Function<Scene, List<Part>> parts;

  HoldScenario(Consumer<Scene> before, Function<Scene, List<Part>> parts) {
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
    return 40;
  }
}
