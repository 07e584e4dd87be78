package dev.holdfast.chaos.verdict;

import dev.holdfast.chaos.ledger.Entry;
import dev.holdfast.chaos.verdict.Violation.Rule;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * First attempts of one target's jobs start in the order in which the jobs were enqueued. Later
 * attempts do not count: one that failed comes back when its delay is over, behind others. An
 * attempt that a closing worker gave back is a first attempt once more, at its old place.
 */
final class TargetOrder {

  private final Map<String, Acknowledged> jobs = new HashMap<>();
  private final Map<String, Acknowledged> lastStarted = new HashMap<>();
  private final List<Violation> violations = new ArrayList<>();

  TargetOrder(List<Acknowledged> acknowledged) {
    acknowledged.forEach(job -> job.target().ifPresent(target -> jobs.put(job.job(), job)));
  }

  void see(Entry entry) {
    if (!entry.is("start") || !entry.accepted() || entry.attempt() != 1) {
      return;
    }
    Acknowledged job = jobs.get(entry.job());
    if (job == null) {
      return;
    }
    Acknowledged before = lastStarted.put(job.target().orElseThrow(), job);
    if (before != null && before.number() > job.number()) {
      violations.add(
          new Violation(
              Rule.OUT_OF_ORDER,
              "%s: line %d starts number %d after number %d"
                  .formatted(
                      job.target().orElseThrow(), entry.order(), job.number(), before.number())));
    }
  }

  List<Violation> violations() {
    return violations;
  }
}
