package dev.holdfast.interleaving;

import static dev.holdfast.interleaving.Parts.claim;
import static dev.holdfast.interleaving.Parts.deleteSchedule;
import static dev.holdfast.interleaving.Parts.finish;
import static dev.holdfast.interleaving.Parts.minutely;
import static dev.holdfast.interleaving.Parts.put;
import static dev.holdfast.interleaving.Parts.recover;
import static dev.holdfast.interleaving.Parts.trigger;
import static dev.holdfast.interleaving.Parts.triggerAside;

import dev.holdfast.interleaving.Actor.Part;
import dev.holdfast.job.Outcome;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;

/** Schedules: who takes a slot, and what becomes of its run. */
@SuppressWarnings("ImmutableEnumChecker") // the lambdas keep nothing
enum SlotScenario implements Scenario {
  TICK_TICK(
      scene -> scene.schedule(minutely()).later(60).slots(1),
      scene -> List.of(Parts::tick, Parts::tick)),

  TICK_TRIGGER(
      scene -> scene.schedule(minutely()).later(60).slots(1),
      scene -> List.of(Parts::tick, trigger(scene))),

  TICK_TRIGGER_WITH_ROOM_FOR_BOTH(
      scene -> scene.schedule(minutely().withMaxInstances(2)).later(60).slots(1),
      scene -> List.of(Parts::tick, trigger(scene))),

  TICK_TRIGGER_ASIDE(
      scene -> scene.schedule(minutely()).later(60).slots(1),
      scene -> List.of(Parts::tick, triggerAside(scene))),

  // A run that takes too long ends while it is given up.
  TICK_FINISH(
      scene -> scene.schedule(minutely()).trigger("one").claim().later(900).claim().slots(16),
      scene -> List.of(Parts::tick, finish(scene, "one", Outcome.succeeded()))),

  // A job that no worker came for is begun while it is given up.
  TICK_CLAIM(
      scene -> scene.schedule(minutely()).trigger("one").later(900).slots(16),
      scene -> List.of(Parts::tick, claim(1))),

  TICK_PUT(
      scene -> scene.schedule(minutely()).later(60).slots(1),
      scene -> List.of(Parts::tick, put(minutely().withEnabled(false)))),

  TICK_DELETE(
      scene -> scene.schedule(minutely()).later(60).slots(1),
      scene -> List.of(Parts::tick, deleteSchedule())),

  TICK_TICK_TRIGGER(
      scene -> scene.schedule(minutely()).later(60).slots(1),
      scene -> List.of(Parts::tick, Parts::tick, trigger(scene))),

  // The worker of a run that looks abandoned says after all how it ended.
  RECOVER_FINISH(
      scene -> scene.schedule(minutely()).trigger("one").claim().slots(1),
      scene -> List.of(recover(scene), finish(scene, "one", Outcome.succeeded()))),

  RECOVER_REAP(
      scene -> scene.schedule(minutely()).trigger("one").claim().later(31).slots(1),
      scene -> List.of(recover(scene), Parts::reap));

  private final Consumer<Scene> before;
  private final Function<Scene, List<Part>> parts;

  SlotScenario(Consumer<Scene> before, Function<Scene, List<Part>> parts) {
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
    return 30;
  }
}
