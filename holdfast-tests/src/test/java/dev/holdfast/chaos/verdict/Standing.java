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
 * Nothing starts on a target on which a job stands, from the moment that an operator saw it there
 * until the operator acts on it. Processes that were ever frozen are left out: one may start what
 * it had before all this.
 */
final class Standing {

  private final Map<String, Set<String>> jobsOn = new HashMap<>();
  private final Set<String> wereFrozen = new HashSet<>();
  private final List<Violation> violations = new ArrayList<>();

  void see(Entry entry) {
    switch (entry.verb()) {
      case "blocked" ->
          jobsOn
              .computeIfAbsent("target:" + entry.words().get(1), unseen -> new HashSet<>())
              .add(entry.job());
      case "act" -> jobsOn.values().forEach(jobs -> jobs.remove(entry.job()));
      case "frozen" -> wereFrozen.add(entry.words().getFirst());
      case "start" -> {
        if (entry.accepted() && !wereFrozen.contains(entry.who())) {
          start(entry);
        }
      }
      default -> {}
    }
  }

  private void start(Entry entry) {
    for (String resource : entry.resources()) {
      Set<String> standing = new HashSet<>(jobsOn.getOrDefault(resource, Set.of()));
      standing.remove(entry.job()); // an attempt of its own that comes late is for fences to judge
      if (!standing.isEmpty()) {
        violations.add(
            new Violation(
                Rule.BEHIND_BLOCK,
                "line %d starts %s while %s stand on %s"
                    .formatted(entry.order(), entry.grant(), standing, resource)));
      }
    }
  }

  List<Violation> violations() {
    return violations;
  }
}
