package dev.holdfast.model;

import dev.holdfast.invariant.Invariants;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.lease.Claimed;
import dev.holdfast.model.Command.AskStop;
import dev.holdfast.model.Command.Beat;
import dev.holdfast.model.Command.Claim;
import dev.holdfast.model.Command.Decide;
import dev.holdfast.model.Command.DeleteSchedule;
import dev.holdfast.model.Command.Do;
import dev.holdfast.model.Command.Drain;
import dev.holdfast.model.Command.Enqueue;
import dev.holdfast.model.Command.Finish;
import dev.holdfast.model.Command.FreeResource;
import dev.holdfast.model.Command.Inspect;
import dev.holdfast.model.Command.Plan;
import dev.holdfast.model.Command.PutSchedule;
import dev.holdfast.model.Command.Reap;
import dev.holdfast.model.Command.Recover;
import dev.holdfast.model.Command.Remake;
import dev.holdfast.model.Command.SetCapacity;
import dev.holdfast.model.Command.SetQueue;
import dev.holdfast.model.Command.Start;
import dev.holdfast.model.Command.Sweep;
import dev.holdfast.model.Command.Tell;
import dev.holdfast.model.Command.Tick;
import dev.holdfast.model.Command.Trigger;
import dev.holdfast.queue.Changes;
import dev.holdfast.queue.Enqueued;
import dev.holdfast.queue.QueueSettings;
import dev.holdfast.reap.Reaper;
import dev.holdfast.rig.People;
import dev.holdfast.rig.Sandbox;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/** Does each command to the engine and to the model, and compares them after it. */
final class Driver {

  static final Set<String> KINDS = Set.of("deploy", "check");

  static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

  private static final int REAPS_PER_SWEEP = 12;

  private final Sandbox sandbox;
  private final Neighbour neighbour;
  private final Tally tally;
  private final Model model = new Model(START.toEpochMilli());
  private final AttemptRules attempts = new AttemptRules(model);
  private final ActRules rules = new ActRules(model, attempts);
  private final SlotRules slots = new SlotRules(model, rules);
  private final Workers workers;
  private final Planner planner;
  private final People people;
  private final Invariants invariants;
  private final Reaper reaper;
  private int reaps;
  private Snapshot before;

  Driver(Sandbox sandbox, Neighbour neighbour, Tally tally) throws SQLException {
    this.sandbox = sandbox;
    this.neighbour = neighbour;
    this.tally = tally;
    people = new People(sandbox.acts());
    invariants = new Invariants(sandbox.tenant());
    workers = new Workers(sandbox.tenant(), model, attempts, tally);
    planner = new Planner(sandbox, model, slots);
    reaper = new Reaper(sandbox.tenant(), () -> 0, () -> {});
    sandbox.empty();
    sandbox.setClock(START);
    before = Snapshot.of(sandbox, neighbour);
  }

  ActRules rules() {
    return rules;
  }

  Model model() {
    return model;
  }

  Workers workers() {
    return workers;
  }

  SlotRules slots() {
    return slots;
  }

  /** Jobs for which something is kept. */
  List<ModelJob> reserving() {
    return model.jobs().stream()
        .filter(job -> before.reservations().stream().anyMatch(kept -> kept.job().equals(job.id)))
        .toList();
  }

  /** Throws a {@link Disagreement} when something is not as the rules say. */
  void run(Command command) throws SQLException {
    switch (command) {
      case Enqueue enqueue -> after(command, enqueue(enqueue));
      case Claim claim -> claim(claim);
      case Beat beat -> after(command, workers.beat(beat));
      case Start start -> after(command, workers.start(start));
      case AskStop ask -> after(command, workers.askStop(ask));
      case Tell tell -> after(command, workers.tell(tell));
      case Finish finish -> after(command, workers.finish(finish));
      case Tick(int seconds) -> {
        tick(seconds);
        after(command, List.of());
      }
      case Reap() -> {
        reap();
        after(command, List.of());
      }
      case Sweep() -> {
        sweep();
        after(command, List.of());
      }
      case Inspect() -> {
        reap(); // what silent workers left behind too long ago is room, for the product's views
        after(command, violations());
      }
      case Do act -> after(command, act(act));
      case SetCapacity(String resource, int capacity) -> {
        sandbox.resources().setCapacity(resource, capacity, People.ADA);
        model.setCapacity(resource, capacity);
        model.actDone("set_capacity", resource);
        after(command, List.of());
      }
      case FreeResource(String resource) -> {
        sandbox.resources().release(resource, People.ADA);
        model.freeResource(resource);
        model.actDone("release", resource);
        after(command, List.of());
      }
      case SetQueue(String queue, boolean paused, Optional<Integer> limit) -> {
        sandbox.queues().put(queue, new QueueSettings(paused, limit, PolicyOverrides.NONE));
        model.queues().set(queue, paused, limit);
        after(command, List.of());
      }
      case PutSchedule(Plan plan) -> {
        planner.put(plan);
        after(command, List.of());
      }
      case DeleteSchedule(String name) -> after(command, planner.delete(name));
      case Decide() -> fired(command, planner.decide(), false, new ArrayList<>());
      case Trigger trigger -> {
        List<String> complaints = new ArrayList<>();
        fired(command, planner.trigger(trigger, complaints), true, complaints);
      }
      case Recover(String worker) -> {
        planner.recover(worker);
        after(command, List.of());
      }
      case Remake(boolean own) -> {
        remake(own);
        after(command, List.of());
      }
      case Drain() -> {
        new Drainage(this).run();
        tally.count("drained");
      }
    }
  }

  private void after(Command command, List<String> complaints) throws SQLException {
    after(command, complaints, snapshot(), Set.of());
  }

  private void after(
      Command command, List<String> complaints, Snapshot after, Set<String> claimedKinds) {
    slots.follow();
    List<String> all = new ArrayList<>(complaints);
    all.addAll(Agreement.complaints(model, slots, after));
    if (all.isEmpty()) {
      all.addAll(WaitingRules.complaints(model, before, after, claimedKinds));
    }
    tally.count(command);
    tally.count(model, before, after);
    if (!all.isEmpty()) {
      throw new Disagreement(command, all);
    }
    before = after;
  }

  private Snapshot snapshot() throws SQLException {
    long began = System.nanoTime();
    Snapshot snapshot = Snapshot.of(sandbox, neighbour);
    tally.count("µs reading tables", (System.nanoTime() - began) / 1_000);
    return snapshot;
  }

  private List<String> violations() throws SQLException {
    long began = System.nanoTime();
    List<String> violations = new ArrayList<>(neighbour.complaints());
    invariants.check().stream()
        .map(Object::toString)
        .filter(violation -> !sandbox.tampering().isMereAbsence(violation))
        .forEach(violations::add);
    tally.count("µs reading views", (System.nanoTime() - began) / 1_000);
    return violations;
  }

  private void reap() {
    tally.count("attempts reaped", reaper.runOnce());
    attempts.reap();
    slots.follow();
    if (++reaps % REAPS_PER_SWEEP == 0) {
      slots.endOrphans();
    }
  }

  private void sweep() {
    tally.count("vanished runs left to their schedules", slots.vanished().size());
    do {
      reap();
    } while (reaps % REAPS_PER_SWEEP > 0);
  }

  private void tick(int seconds) throws SQLException {
    model.tick(seconds);
    sandbox.setClock(Instant.ofEpochMilli(model.now()));
  }

  private List<String> enqueue(Enqueue enqueue) throws SQLException {
    if (model.isGone(enqueue)) {
      tick(1); // a job that takes over the id of a deleted one is younger, on any clock that goes
    }
    Command.Extras extras = enqueue.spec().extras();
    Optional<ModelJob> there =
        extras.hasId() && model.job(enqueue.job()).isPresent()
            ? model.job(enqueue.job())
            : model.unfinishedWith(extras.uniqueKey());
    Enqueued enqueued = Retries.once(() -> sandbox.jobs().enqueue(JobFromSpec.job(enqueue)));
    UUID id = there.map(job -> job.id).orElse(enqueued.id());
    if (there.isEmpty()) {
      model.enqueue(enqueue.job(), id, enqueue.spec());
    } else {
      tally.count("enqueues that were there already");
    }
    return enqueued.equals(new Enqueued(id, there.isEmpty()))
        ? List.of()
        : List.of(enqueued + " instead of " + id + ", new: " + there.isEmpty());
  }

  private void claim(Claim claim) throws SQLException {
    boolean isRepeated = workers.isRepeated(claim);
    Claimed claimed = workers.claim(claim);
    Snapshot after = snapshot();
    if (isRepeated) {
      after(claim, workers.repeated(claim, claimed), after, Set.of());
    } else {
      Set<String> kinds = claim.kinds().isEmpty() ? KINDS : claim.kinds();
      after(claim, workers.granted(claim, claimed, before, after), after, kinds);
    }
  }

  private void fired(Command command, List<ModelSlot> fired, boolean now, List<String> complaints)
      throws SQLException {
    Snapshot after = snapshot();
    complaints.addAll(planner.enqueued(fired, now, after));
    tally.count("slots fired", fired.size());
    after(command, complaints, after, Set.of());
  }

  private void remake(boolean own) throws SQLException {
    tally.count(own ? "tenants remade" : "neighbours remade");
    if (own) {
      sandbox.remake();
      model.makeAnew();
      slots.makeAnew();
      workers.makeAnew();
      before = snapshot();
    } else {
      neighbour.remake();
    }
  }

  private Changes changes(Do act) {
    return new Changes(
        act.change().runInSeconds().map(in -> Instant.ofEpochMilli(model.now() + in * 1_000L)),
        act.change().priority(),
        Optional.empty());
  }

  private List<String> act(Do act) {
    Optional<ModelJob> job = model.job(act.job());
    if (job.isEmpty()) {
      return List.of();
    }
    boolean allowed = rules.isAllowed(job.get(), act.act(), act.force());
    boolean done = people.perform(act.act(), act.force(), job.get().id, changes(act));
    String what = "%s of %s that is %s".formatted(act.act(), job.get(), job.get().phase);
    tally.count(act, job.get().phase, done);
    if (allowed) {
      rules.perform(job.get(), act);
      model.actDone(act.act().stored(), job.get());
    }
    return allowed == done ? List.of() : List.of(what + (done ? " was allowed" : " was refused"));
  }
}
