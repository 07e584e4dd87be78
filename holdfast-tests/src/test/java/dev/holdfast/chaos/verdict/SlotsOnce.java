package dev.holdfast.chaos.verdict;

import dev.holdfast.chaos.ledger.Entry;
import dev.holdfast.chaos.verdict.Violation.Rule;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * Every moment of a schedule is decided about once, from when it was made to when it was disabled:
 * none is left out, and none has the effects of two jobs. Which slot a job is for is said by the
 * list of slots, and by those who ran it.
 */
final class SlotsOnce {

  // The clock by which the hours were taken is the database's, or one beside it.
  private static final Duration MARGIN = Duration.ofSeconds(1);

  private final List<FiredSlot> slots;
  private final Optional<Hours> hours;
  private final Map<String, Set<String>> jobsOf = new HashMap<>(); // by slot
  private final Set<String> scheduled = new HashSet<>();
  private final Set<String> withEffect = new HashSet<>();

  SlotsOnce(List<FiredSlot> slots, Optional<Hours> hours) {
    this.slots = slots;
    this.hours = hours;
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
    Map<String, NavigableSet<Instant>> moments = new HashMap<>();
    for (FiredSlot slot : slots) {
      if (!moments
          .computeIfAbsent(slot.schedule(), unseen -> new TreeSet<>())
          .add(slot.scheduledFor())) {
        all.add(new Violation(Rule.SLOT_TWICE, slot.name() + " is there twice"));
      }
    }
    Duration every = hours.map(Hours::every).orElse(Duration.ofSeconds(1));
    moments.forEach((schedule, decided) -> addGaps(all, schedule, decided, every));
    hours.ifPresent(known -> {
      for (String schedule : known.schedules()) {
        addUntimely(all, schedule, moments.getOrDefault(schedule, new TreeSet<>()), known);
      }
    });
    return all;
  }

  private static void addGaps(
      List<Violation> all, String schedule, NavigableSet<Instant> decided, Duration every) {
    for (Instant moment : decided) {
      Instant before = decided.lower(moment);
      if (before != null && !before.plus(every).equals(moment)) {
        all.add(
            new Violation(
                Rule.SLOT_MISSED, "%s: %s comes after %s".formatted(schedule, moment, before)));
      }
    }
  }

  private static void addUntimely(
      List<Violation> all, String schedule, NavigableSet<Instant> decided, Hours hours) {
    if (decided.isEmpty()) {
      all.add(new Violation(Rule.SLOT_MISSED, schedule + " has no slots at all"));
      return;
    }
    Duration late = hours.every().plus(MARGIN);
    check(all, Rule.SLOT_MISSED, decided.first().isAfter(hours.open().plus(late)), schedule, hours);
    check(
        all,
        Rule.SLOT_MISSED,
        decided.last().isBefore(hours.closing().minus(late)),
        schedule,
        hours);
    boolean early = decided.first().isBefore(hours.opening().minus(MARGIN));
    boolean after = decided.last().isAfter(hours.closed().plus(MARGIN));
    check(all, Rule.SLOT_UNTIMELY, early || after, schedule, hours);
  }

  private static void check(
      List<Violation> all, Rule rule, boolean broken, String schedule, Hours hours) {
    if (broken) {
      all.add(new Violation(rule, schedule + " has not all, or more than, it was due: " + hours));
    }
  }
}
