package dev.holdfast.model;

import dev.holdfast.model.Command.Plan;
import dev.holdfast.model.ModelJob.Why;
import dev.holdfast.model.ModelSlot.Status;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;

/**
 * When schedules are due, and what becomes of their slots. Written from docs/schedules.md. Slots
 * follow their jobs; it makes no difference to look after them more often than they move.
 */
final class SlotRules {

  static final List<String> NAMES = List.of("brief", "digest");

  // Above those of jobs that are enqueued by hand, and told by the moment they are for, so that
  // they mean the same when commands are left out.
  private static final int NUMBERS = 10_000_000;

  /** A schedule, and the first of its slots that nobody has decided about. */
  record Standing(Plan plan, OptionalLong nextAt) {}

  private final Model model;
  private final ActRules acts;
  private final long epoch;
  private final Map<String, Standing> schedules = new TreeMap<>();
  private final Map<ModelSlot.Key, ModelSlot> slots = new HashMap<>();

  SlotRules(Model model, ActRules acts) {
    this.model = model;
    this.acts = acts;
    this.epoch = model.now();
  }

  Map<String, Standing> schedules() {
    return schedules;
  }

  Collection<ModelSlot> slots() {
    return slots.values();
  }

  void makeAnew() {
    schedules.clear();
    slots.clear();
  }

  private int number(ModelSlot.Key key) {
    long second = (key.at() - epoch) / 1_000;
    return (int) (NUMBERS * (1 + NAMES.indexOf(key.schedule())) + NUMBERS / 2 + second);
  }

  private static long after(Plan plan, long at) {
    long step = plan.everySeconds() * 1_000L;
    return (at / step + 1) * step;
  }

  /** Makes it so. One with the same times goes on where it was. */
  void put(Plan plan) {
    Optional<Standing> old = Optional.ofNullable(schedules.get(plan.name()));
    boolean sameTimes =
        old.filter(one -> one.plan.everySeconds() == plan.everySeconds()).isPresent();
    if (!plan.enabled() || !sameTimes) {
      old.ifPresent(this::closeDue);
    }
    OptionalLong goesOn =
        old.filter(one -> sameTimes).map(Standing::nextAt).orElse(OptionalLong.empty());
    OptionalLong next = goesOn.isPresent() ? goesOn : OptionalLong.of(after(plan, model.now()));
    schedules.put(plan.name(), new Standing(plan, plan.enabled() ? next : OptionalLong.empty()));
    String resource = resource(plan.name());
    if (old.isEmpty() || !old.get().plan.equals(plan)) {
      model.actDone("put_schedule", resource);
    }
    if (model.capacity(resource) != plan.maxInstances()) {
      model.setCapacity(resource, plan.maxInstances());
      model.actDone("set_capacity", resource);
    }
  }

  static String resource(String schedule) {
    return "schedule:" + schedule;
  }

  /** False when there is none. */
  boolean delete(String name) {
    Optional<Standing> old = Optional.ofNullable(schedules.remove(name));
    old.ifPresent(one -> {
      closeDue(one);
      model.actDone("delete_schedule", resource(name));
    });
    return old.isPresent();
  }

  private List<Long> due(Standing standing) {
    List<Long> due = new ArrayList<>();
    standing.nextAt.ifPresent(first -> {
      for (long at = first; at <= model.now(); at = after(standing.plan, at)) {
        due.add(at);
      }
    });
    return due;
  }

  private void closeDue(Standing standing) {
    due(standing)
        .forEach(at -> take(new ModelSlot.Key(standing.plan.name(), at), Status.SKIPPED_MISFIRE));
  }

  private void take(ModelSlot.Key key, Status status) {
    slots.putIfAbsent(key, new ModelSlot(key, status, Optional.empty(), model.now()));
  }

  /** Decides about all that is due; answers those that got a job, in the order they did. */
  List<ModelSlot> decide() {
    List<ModelSlot> fired = new ArrayList<>();
    schedules.values().stream()
        .filter(one -> one.nextAt.isPresent() && one.nextAt.getAsLong() <= model.now())
        .sorted(
            Comparator.comparingLong((Standing one) -> one.nextAt.getAsLong())
                .thenComparing(one -> one.plan.name()))
        .toList()
        .forEach(one -> fired.addAll(decide(one)));
    return fired;
  }

  private List<ModelSlot> decide(Standing standing) {
    Plan plan = standing.plan;
    giveUpWaiting(plan);
    giveUp(plan);
    List<Long> due = due(standing);
    List<ModelSlot> fired = new ArrayList<>();
    long open = open(plan);
    for (long at : due) {
      ModelSlot.Key key = new ModelSlot.Key(plan.name(), at);
      if (slots.containsKey(key)) {
        continue;
      }
      if (model.now() - at > plan.graceSeconds() * 1_000L) {
        take(key, Status.SKIPPED_MISFIRE);
      } else if (plan.coalesces() && at < due.getLast()) {
        take(key, Status.COALESCED);
      } else if (open + fired.size() >= plan.maxInstances()) {
        take(key, Status.SKIPPED_OVERLAP);
      } else {
        fired.add(fire(key));
      }
    }
    schedules.put(plan.name(), new Standing(plan, OptionalLong.of(after(plan, due.getLast()))));
    return fired;
  }

  private ModelSlot fire(ModelSlot.Key key) {
    ModelSlot slot = new ModelSlot(key, Status.QUEUED, Optional.of(number(key)), model.now());
    slots.put(key, slot);
    return slot;
  }

  private List<ModelSlot> of(Plan plan) {
    return slots.values().stream()
        .filter(slot -> slot.key.schedule().equals(plan.name()))
        .sorted(Comparator.comparingLong(slot -> slot.key.at()))
        .toList();
  }

  private long open(Plan plan) {
    return of(plan).stream().filter(ModelSlot::isOpen).count();
  }

  // A job that no worker came for would keep all later slots from running.
  private void giveUpWaiting(Plan plan) {
    for (ModelSlot slot : of(plan)) {
      if (slot.status == Status.QUEUED
          && slot.startedAt.isEmpty()
          && slot.decidedAt < model.now() - plan.graceSeconds() * 1_000L) {
        slot.job.flatMap(model::job).ifPresent(acts::expire);
      }
    }
    follow();
  }

  private void giveUp(Plan plan) {
    of(plan).stream()
        .filter(slot -> isTooLong(plan, slot))
        .forEach(slot -> slot.status = Status.SKIPPED_TIMEOUT);
  }

  private boolean isTooLong(Plan plan, ModelSlot slot) {
    return slot.status == Status.RUNNING
        && slot.startedAt.getAsLong() < model.now() - 2_000L * plan.expectedSeconds();
  }

  /** Somebody wants this slot to run now; empty when that is refused. */
  Optional<ModelSlot> trigger(String name, long at) {
    Optional<Standing> standing = Optional.ofNullable(schedules.get(name));
    ModelSlot.Key key = new ModelSlot.Key(name, at);
    if (standing.isEmpty() || slots.containsKey(key)) {
      return Optional.empty();
    }
    Plan plan = standing.get().plan;
    long open = of(plan).stream().filter(slot -> slot.isOpen() && !isTooLong(plan, slot)).count();
    if (open >= plan.maxInstances()) {
      return Optional.empty();
    }
    giveUp(plan);
    model.actDone("trigger", resource(name));
    return Optional.of(fire(key));
  }

  /** A worker of that name starts: what it ran before, and nobody is at any more, has failed. */
  void recover(String worker) {
    slots.values().stream()
        .filter(slot -> slot.status == Status.RUNNING && slot.worker.equals(worker))
        .filter(slot -> slot.job.flatMap(model::job).filter(ModelJob::isLeased).isEmpty())
        .forEach(slot -> slot.status = Status.FAILED);
  }

  /** Runs that nothing else would ever end. */
  void endOrphans() {
    slots.values().stream()
        .filter(this::hasVanished)
        .filter(slot -> !isEnabled(slot.key.schedule()))
        .forEach(slot -> slot.status = Status.FAILED);
  }

  /** Runs whose worker vanished, and that their schedule's next slot will find. */
  List<ModelSlot> vanished() {
    return slots.values().stream()
        .filter(slot -> hasVanished(slot) && isEnabled(slot.key.schedule()))
        .toList();
  }

  private boolean hasVanished(ModelSlot slot) {
    return slot.status == Status.RUNNING
        && slot.job.flatMap(model::job).filter(job -> !job.isFinished()).isEmpty();
  }

  private boolean isEnabled(String schedule) {
    return schedules.containsKey(schedule) && schedules.get(schedule).plan.enabled();
  }

  /** They are where their jobs are. */
  void follow() {
    slots
        .values()
        .forEach(slot -> slot.job.flatMap(model::job).ifPresent(job -> follow(slot, job)));
  }

  private static void follow(ModelSlot slot, ModelJob job) {
    if (job.startedAt.isPresent()) {
      slot.startedAt = job.startedAt;
      slot.worker = job.worker;
    }
    boolean givenUp = slot.status == Status.SKIPPED_TIMEOUT;
    switch (job.phase) {
      case SUCCEEDED -> slot.status = Status.RAN;
      case CANCELLED ->
          slot.status =
              job.why == Why.MISFIRE && slot.startedAt.isEmpty()
                  ? Status.SKIPPED_MISFIRE
                  : Status.FAILED;
      case FAILED -> {
        if (job.why != Why.LEASE_LOST) { // somebody may still be at it
          slot.status = Status.FAILED;
        }
      }
      case DISPATCHED, RUNNING, STOPPING -> slot.status = givenUp ? slot.status : Status.RUNNING;
      case PENDING, QUEUED, PAUSED -> slot.status = givenUp ? slot.status : Status.QUEUED;
    }
  }
}
