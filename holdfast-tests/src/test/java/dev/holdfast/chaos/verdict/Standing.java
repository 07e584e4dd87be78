package dev.holdfast.chaos.verdict;

import dev.holdfast.chaos.ledger.Entry;
import dev.holdfast.chaos.verdict.Violation.Rule;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Nothing starts on a target on which a job stands, from the moment that an operator saw it there
 * until the operator acts on it. A process that is frozen is left out, and for lease and kill grace
 * after it: it may start what it had before all this.
 */
final class Standing {

  private static final Duration STALE = Documented.LEASE.plus(Documented.KILL_GRACE);

  private final Map<String, Set<String>> jobsOn = new HashMap<>();
  private final Map<String, Long> staleUntilMillis = new HashMap<>();
  private final List<Violation> violations = new ArrayList<>();

  void see(Entry entry) {
    switch (entry.verb()) {
      case "blocked" ->
          jobsOn
              .computeIfAbsent("target:" + entry.words().get(1), unseen -> new HashSet<>())
              .add(entry.job());
      case "act" -> jobsOn.values().forEach(jobs -> jobs.remove(entry.job()));
      case "frozen" -> staleUntilMillis.put(entry.words().getFirst(), Long.MAX_VALUE);
      case "thawed" ->
          staleUntilMillis.put(entry.words().getFirst(), entry.millis() + STALE.toMillis());
      case "start" -> {
        if (entry.accepted() && !isStale(entry)) {
          start(entry);
        }
      }
      default -> {}
    }
  }

  private boolean isStale(Entry entry) {
    return entry.millis() <= staleUntilMillis.getOrDefault(entry.who(), Long.MIN_VALUE);
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
