package dev.holdfast.chaos.verdict;

import dev.holdfast.chaos.ledger.Entry;
import dev.holdfast.chaos.verdict.Violation.Rule;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Every moment of a schedule is decided about once: none is left out, and none has the effects of
 * two jobs. Which slot a job is for is said by the list of slots, and by those who ran it.
 */
final class SlotsOnce {

  private final List<FiredSlot> slots;
  private final Duration every;
  private final Map<String, Set<String>> jobsOf = new HashMap<>(); // by slot
  private final Set<String> scheduled = new HashSet<>();
  private final Set<String> withEffect = new HashSet<>();

  SlotsOnce(List<FiredSlot> slots, Duration every) {
    this.slots = slots;
    this.every = every;
    for (FiredSlot slot : slots) {
      slot.job().ifPresent(job -> add(slot.name(), job));
    }
  }

  void see(Entry entry) {
    if (entry.is("slot")) {
      add(entry.how(), entry.job());
    } else if (entry.is("effect") && entry.accepted()) {
      // Of all jobs, because those who ran it tell which slot it was for only afterwards.
      if (scheduled.contains(entry.job())) {
        withEffect.add(entry.job());
      }
    } else if (entry.is("start") && entry.resources().stream().anyMatch(SlotsOnce::isSchedule)) {
      scheduled.add(entry.job());
    }
  }

  private static boolean isSchedule(String resource) {
    return resource.startsWith("schedule:");
  }

  private void add(String slot, String job) {
    jobsOf.computeIfAbsent(slot, unseen -> new HashSet<>()).add(job);
    scheduled.add(job);
  }

  List<Violation> violations() {
    List<Violation> all = new ArrayList<>();
    jobsOf.forEach((slot, jobs) -> {
      List<String> acted = jobs.stream().filter(withEffect::contains).sorted().toList();
      if (acted.size() > 1) {
        all.add(new Violation(Rule.SLOT_TWICE, slot + ": " + acted));
      }
    });
    Map<String, Instant> last = new HashMap<>();
    slots.stream()
        .sorted(Comparator.comparing(FiredSlot::scheduledFor))
        .forEach(slot -> {
          Instant before = last.put(slot.schedule(), slot.scheduledFor());
          if (before != null && !before.plus(every).equals(slot.scheduledFor())) {
            all.add(
                new Violation(
                    before.equals(slot.scheduledFor()) ? Rule.SLOT_TWICE : Rule.SLOT_MISSED,
                    "%s comes after %s".formatted(slot.name(), before)));
          }
        });
    return all;
  }
}
