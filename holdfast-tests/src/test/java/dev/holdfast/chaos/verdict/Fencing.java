package dev.holdfast.chaos.verdict;

import dev.holdfast.chaos.ledger.Entry;
import dev.holdfast.chaos.verdict.Violation.Rule;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Whoever's place was taken changes nothing, neither in the ledger nor in Holdfast, and a grant has
 * one effect. Judges the ledger's own answers, too: it computes the largest fences anew.
 */
final class Fencing {

  private final Map<String, Long> largestFences = new HashMap<>();
  private final Map<String, List<String>> thingsOf = new HashMap<>(); // of grants that go on
  private final Set<String> effects = new HashSet<>(); // of grants that go on
  private final Set<String> refused = new HashSet<>();
  private final List<Violation> violations = new ArrayList<>();

  void see(Entry entry) {
    switch (entry.verb()) {
      case "start" -> start(entry);
      case "effect" -> effect(entry);
      case "end" -> {
        if (!entry.accepted()) { // its end is said before Holdfast is told of it
          refused.add(entry.grant());
        }
        thingsOf.remove(entry.grant());
        effects.remove(entry.grant());
      }
      case "holdfast-took" -> {
        if (refused.contains(entry.grant())) {
          add(Rule.STALE_WRITTEN, entry, entry.how() + " of an attempt that the ledger refused");
        }
      }
      default -> {}
    }
  }

  List<Violation> violations() {
    return violations;
  }

  private void start(Entry entry) {
    if (!entry.accepted()) {
      refused.add(entry.grant());
      return;
    }
    if (largestFences.getOrDefault(entry.job(), 0L) == entry.fence()) {
      add(Rule.DOUBLE_EFFECT, entry, "started twice under one fence");
    }
    List<String> things = new ArrayList<>(entry.resources());
    things.add(entry.job());
    checkCurrent(entry, things);
    things.forEach(thing -> largestFences.merge(thing, entry.fence(), Math::max));
    thingsOf.put(entry.grant(), things);
  }

  private void effect(Entry entry) {
    if (!entry.accepted()) {
      refused.add(entry.grant());
      return;
    }
    if (!thingsOf.containsKey(entry.grant())) {
      add(Rule.STALE_ACCEPTED, entry, "effect of an attempt that never started, or has ended");
    }
    checkCurrent(entry, thingsOf.getOrDefault(entry.grant(), List.of()));
    if (!effects.add(entry.grant())) {
      add(Rule.DOUBLE_EFFECT, entry, "effect twice under one fence");
    }
  }

  private void checkCurrent(Entry entry, List<String> things) {
    for (String thing : things) {
      long largest = largestFences.getOrDefault(thing, 0L);
      if (largest > entry.fence()) {
        add(Rule.STALE_ACCEPTED, entry, entry.verb() + " on " + thing + " after fence " + largest);
      }
    }
  }

  private void add(Rule rule, Entry entry, String what) {
    violations.add(
        new Violation(rule, "line %d, %s: %s".formatted(entry.order(), entry.grant(), what)));
  }
}
