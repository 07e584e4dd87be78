package dev.holdfast.model;

import dev.holdfast.model.ModelJob.Phase;
import dev.holdfast.model.SlotRules.Standing;
import dev.holdfast.model.Snapshot.Row;
import dev.holdfast.model.Snapshot.Slot;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;

/** Where the tables differ from what the model says. */
final class Agreement {

  private final Model model;
  private final SlotRules slots;
  private final Snapshot snapshot;
  private final List<String> complaints = new ArrayList<>();
  private final Map<UUID, Integer> numbers = new HashMap<>();

  private Agreement(Model model, SlotRules slots, Snapshot snapshot) {
    this.slots = slots;
    this.model = model;
    this.snapshot = snapshot;
    model.jobs().forEach(job -> numbers.put(job.id, job.number));
  }

  static List<String> complaints(Model model, SlotRules slots, Snapshot snapshot) {
    Agreement agreement = new Agreement(model, slots, snapshot);
    agreement.check();
    return agreement.complaints;
  }

  private void check() {
    complaints.addAll(snapshot.violations());
    if (!snapshot.jobs().keySet().equals(numbers.keySet())) {
      complaints.add("jobs: " + snapshot.jobs().keySet() + " instead of " + numbers.keySet());
      return;
    }
    model.jobs().forEach(job -> check(job, snapshot.jobs().get(job.id)));
    snapshot.attempts().keySet().stream()
        .filter(id -> !numbers.containsKey(id))
        .forEach(id -> complaints.add(id + " has attempts but is gone"));
    same("holds", model.holds(), holds());
    same("blocks", model.blocks(), blocks());
    same("subjects", model.subjects(), snapshot.subjects());
    same("recorded acts", model.audited(), snapshot.audited());
    check(slots.schedules());
    same("slots", keys(slots.slots()), snapshot.slots().keySet());
    slots
        .slots()
        .forEach(slot ->
            Optional.ofNullable(snapshot.slots().get(slot.key)).ifPresent(row -> check(slot, row)));
    snapshot
        .capacities()
        .forEach((name, capacity) -> same("capacity of " + name, model.capacity(name), capacity));
  }

  private void check(Map<String, Standing> schedules) {
    Map<String, OptionalLong> next = new HashMap<>();
    schedules.forEach((name, standing) -> next.put(name, standing.nextAt()));
    same("next slots of schedules", next, snapshot.schedules());
  }

  private static Set<ModelSlot.Key> keys(Collection<ModelSlot> slots) {
    return slots.stream().map(slot -> slot.key).collect(Collectors.toSet());
  }

  private void check(ModelSlot slot, Slot row) {
    same(slot.key + ": status", slot.status.name().toLowerCase(Locale.ROOT), row.status());
    same(slot.key + ": started", slot.startedAt, row.startedAt());
    same(slot.key + ": worker", slot.worker, row.worker().orElse(""));
  }

  private void check(ModelJob job, Row row) {
    same(job, "state", job.phase.name().toLowerCase(Locale.ROOT), row.state());
    same(job, "is live", !job.isFinished(), row.isLive());
    same(job, "fence", job.fence, row.fence());
    same(job, "attempt", job.attempt, row.attempt());
    same(job, "failures", job.failures, row.failures());
    same(job, "granted", job.granted, row.granted());
    same(job, "results", job.results, row.results());
    same(job, "run_at", job.runAt, row.runAt());
    same(job, "priority", job.priority, row.priority());
    // What ended stays in the history, whatever becomes of the job.
    Map<Long, String> ends = new HashMap<>();
    job.ends.forEach((fence, end) -> ends.put(fence, end.outcome()));
    same(job, "ended attempts", ends, snapshot.attempts().getOrDefault(job.id, Map.of()));
    if (job.isLeased()) {
      same(job, "worker", Optional.of(job.worker), row.worker());
      same(job, "expiry", OptionalLong.of(job.expiresAt), row.expiresAt());
      same(job, "times out", job.timesOutAt, row.timesOutAt());
      same(job, "stop_as", job.stopAs.map(as -> as.name().toLowerCase(Locale.ROOT)), row.stopAs());
    }
    if (row.waitingOn().isPresent() && !job.isDue(model.now())) {
      complaints.add(job + " is parked but " + job.phase + ", due at " + job.runAt);
    }
    if (job.phase == Phase.QUEUED && job.attempt >= job.spec.maxAttempts() + job.granted) {
      complaints.add(job + " is to run a time more than allowed");
    }
  }

  private Set<Model.Hold> holds() {
    Set<Model.Hold> found = new HashSet<>();
    snapshot
        .holds()
        .forEach(hold ->
            found.add(
                new Model.Hold(
                    hold.resource(), numbers.get(hold.job()), hold.fence(), hold.passesAt())));
    return found;
  }

  private Set<Model.Block> blocks() {
    Set<Model.Block> found = new HashSet<>();
    snapshot
        .blocks()
        .forEach(block -> found.add(new Model.Block(block.resource(), numbers.get(block.job()))));
    return found;
  }

  private void same(ModelJob job, String what, Object expected, Object found) {
    same(job + ": " + what, expected, found);
  }

  private void same(String what, Object expected, Object found) {
    if (!Objects.equals(expected, found)) {
      complaints.add(what + " is " + found + " instead of " + expected);
    }
  }
}
