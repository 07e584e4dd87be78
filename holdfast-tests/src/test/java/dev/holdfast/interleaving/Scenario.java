package dev.holdfast.interleaving;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.interleaving.Actor.Part;
import dev.holdfast.job.Failure;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Outcome;
import dev.holdfast.lease.Extension.Status;
import dev.holdfast.lease.Finish;
import dev.holdfast.lease.Lease;
import java.util.List;
import java.util.UUID;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;

/** What is there at first, and who then does what at the same time. */
@SuppressWarnings("ImmutableEnumChecker") // the lambdas keep nothing
enum Scenario {
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
      scene -> List.of(claim(3), act(scene, "two", Verbs.CANCEL))),

  PARK_CANCEL_ON_A_NEW_TARGET(
      scene ->
          scene
              .enqueue("one", NewJob.of("deploy", 1).withTarget("t"))
              .enqueue("two", NewJob.of("deploy", 1).withTarget("t")),
      scene -> List.of(act(scene, "one", Verbs.CANCEL), claim(2))),

  CANCEL_OF_THE_WOKEN(
      scene ->
          scene
              .enqueue("one", needs("a"))
              .claim()
              .enqueue("two", needs("a"))
              .enqueue("three", needs("a"))
              .claim(),
      scene -> List.of(finish(scene, "one", Outcome.succeeded()), act(scene, "two", Verbs.CANCEL))),

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
      scene -> List.of(finish(scene, "one", Outcome.succeeded()), Scenario::reap)),

  FINISH_REAP_AND_PASS_ON(
      scene ->
          scene.enqueue("one", needs("a")).claim().enqueue("two", needs("a")).claim().later(40),
      scene -> List.of(finish(scene, "one", failed()), Scenario::reap)),

  BEAT_REAP(
      scene -> scene.enqueue("one", needs("a")).claim().later(31),
      scene -> List.of(beat(scene, "one"), Scenario::reap)),

  STOP_FINISH(
      scene ->
          scene
              .enqueue("one", NewJob.of("deploy", 1).withTarget("t"))
              .claim()
              .enqueue("two", NewJob.of("deploy", 1).withTarget("t"))
              .claim(),
      scene -> List.of(act(scene, "one", Verbs.STOP), finish(scene, "one", failed()))),

  PAUSE_FINISH(
      scene ->
          scene
              .enqueue("one", NewJob.of("deploy", 1).withTarget("t"))
              .claim()
              .enqueue("two", NewJob.of("deploy", 1).withTarget("t"))
              .claim(),
      scene -> List.of(act(scene, "one", Verbs.PAUSE), finish(scene, "one", snoozed()))),

  PAUSE_CLAIM(
      scene ->
          scene
              .enqueue("one", NewJob.of("deploy", 1).withTarget("t").withResources("a"))
              .enqueue("two", NewJob.of("deploy", 1).withTarget("t")),
      scene -> List.of(act(scene, "one", Verbs.PAUSE), claim(2))),

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
              act(scene, "two", Verbs.CANCEL))),

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

  FREE_CLAIM(
      scene ->
          scene
              .capacity("target:t", 1)
              .enqueue("one", NewJob.of("deploy", 1).withTarget("t"))
              .pause("one")
              .enqueue("two", NewJob.of("deploy", 1).withTarget("t")),
      scene -> List.of(claim(2), free("target:t")));

  private enum Verbs {
    CANCEL,
    STOP,
    PAUSE
  }

  private final Consumer<Scene> before;
  private final Function<Scene, List<Part>> parts;

  Scenario(Consumer<Scene> before, Function<Scene, List<Part>> parts) {
    this.before = before;
    this.parts = parts;
  }

  void prepare(Scene scene) {
    before.accept(scene);
  }

  List<Part> parts(Scene scene) {
    return parts.apply(scene);
  }

  private static NewJob needs(String... resources) {
    return NewJob.of("deploy", 1).withResources(resources);
  }

  private static Outcome failed() {
    return Outcome.failed(Failure.permanent("OOPS", "no"));
  }

  private static Outcome snoozed() {
    return Outcome.snoozed(java.time.Duration.ZERO);
  }

  private static Part claim(int limit) {
    return actor -> actor.got(actor.leases().claim(Scene.request("worker", limit)).leases());
  }

  private static Part repeatable(int limit) {
    return actor ->
        actor.got(
            actor.leases().claim(Scene.request("worker", limit).withClaimId("same")).leases());
  }

  private static Part finish(Scene scene, String job, Outcome outcome) {
    return actor -> actor.leases().finish(List.of(new Finish(scene.lease(job), outcome)));
  }

  private static Part beat(Scene scene, String job) {
    return actor -> {
      Lease lease = scene.lease(job);
      if (actor.leases().extend(List.of(lease)).getFirst().status() == Status.EXTENDED) {
        scene.mustRun(lease);
      }
    };
  }

  private static Part capacity(String resource, int capacity) {
    return actor -> actor.resources().setCapacity(resource, capacity, Actor.ADA);
  }

  private static Part free(String resource) {
    return actor -> actor.resources().release(resource, Actor.ADA);
  }

  private static void reap(Actor actor) {
    actor.reaper().runOnce();
  }

  private static Part act(Scene scene, String job, Verbs verb) {
    BiConsumer<Actor, UUID> act =
        switch (verb) {
          case CANCEL -> (actor, id) -> actor.acts().cancel(id, Actor.ADA);
          case STOP -> (actor, id) -> actor.acts().stop(id, Actor.ADA);
          case PAUSE -> (actor, id) -> actor.acts().pause(id, Actor.ADA);
        };
    return actor -> {
      try {
        act.accept(actor, scene.job(job));
      } catch (HoldfastException e) {
        // The other one was first, and the job's state no longer allows it.
        if (e.code() != ErrorCode.STATE_CONFLICT) {
          throw e;
        }
      }
    };
  }
}
