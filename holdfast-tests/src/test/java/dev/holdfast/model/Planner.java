package dev.holdfast.model;

import dev.holdfast.codec.JacksonCodec;
import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.model.Command.Plan;
import dev.holdfast.model.Command.Trigger;
import dev.holdfast.rig.People;
import dev.holdfast.rig.Sandbox;
import dev.holdfast.schedule.Ticker;
import dev.holdfast.slot.Slots;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;

/** What is done about schedules, to the engine and to the model. */
final class Planner {

  private final Sandbox sandbox;
  private final Model model;
  private final SlotRules rules;
  private final Ticker ticker;
  private final Slots slots;

  Planner(Sandbox sandbox, Model model, SlotRules rules) {
    this.sandbox = sandbox;
    this.model = model;
    this.rules = rules;
    this.ticker = new Ticker(sandbox.tenant(), new JacksonCodec(), sandbox.jobs(), sandbox.acts());
    this.slots = new Slots(sandbox.tenant().db());
  }

  void put(Plan plan) {
    var unused = sandbox.schedules().put(JobFromSpec.schedule(plan), People.ADA);
    rules.put(plan);
  }

  List<String> delete(String name) {
    boolean done = allowed(() -> sandbox.schedules().delete(name, People.ADA));
    return done == rules.delete(name) ? List.of() : List.of("schedule deleted: " + done);
  }

  /** Answers the slots that are to have a job now. */
  List<ModelSlot> decide() {
    var unused = ticker.tick();
    return rules.decide();
  }

  /** The same; what is refused fires nothing. */
  List<ModelSlot> trigger(Trigger trigger, List<String> complaints) {
    long at = trigger.second() * 1_000;
    Instant slot = Instant.ofEpochMilli(at);
    boolean done =
        allowed(() -> {
          UUID unused =
              sandbox.schedules().trigger(trigger.schedule(), Optional.of(slot), People.ADA);
        });
    Optional<ModelSlot> fired = rules.trigger(trigger.schedule(), at);
    if (done != fired.isPresent()) {
      complaints.add(trigger + (done ? " was allowed" : " was refused"));
    }
    return fired.stream().toList();
  }

  /** Tells the model of the jobs that slots got. */
  List<String> enqueued(List<ModelSlot> fired, boolean now, Snapshot after) {
    List<String> complaints = new ArrayList<>();
    for (ModelSlot slot : fired) {
      Optional<UUID> id =
          Optional.ofNullable(after.slots().get(slot.key)).flatMap(Snapshot.Slot::job);
      if (id.isEmpty()) {
        complaints.add(slot.key + " got no job");
      } else {
        model.enqueue(
            slot.job.orElseThrow(),
            id.get(),
            spec(slot.key.schedule()),
            now ? model.now() : slot.key.at());
      }
    }
    return complaints;
  }

  // Beside what its job needs, the schedule itself.
  private Command.Spec spec(String schedule) {
    Command.Spec said = rules.schedules().get(schedule).plan().job();
    TreeSet<String> needs = new TreeSet<>(said.needs());
    needs.add(SlotRules.resource(schedule));
    return said.withNeeds(needs);
  }

  void recover(String worker) {
    var unused = slots.recover(Set.of(worker), Instant.ofEpochMilli(model.now()));
    rules.recover(worker);
  }

  private static boolean allowed(Runnable act) {
    try {
      act.run();
      return true;
    } catch (HoldfastException e) {
      if (e.code() != ErrorCode.STATE_CONFLICT && e.code() != ErrorCode.NOT_FOUND) {
        throw e;
      }
      return false;
    }
  }
}
