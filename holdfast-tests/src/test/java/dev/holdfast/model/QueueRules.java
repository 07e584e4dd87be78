package dev.holdfast.model;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** What queues allow: one that is paused gives nothing, and no more run at once than it says. */
final class QueueRules {

  private record Settings(boolean paused, Optional<Integer> limit) {}

  private static final Settings DEFAULTS = new Settings(false, Optional.empty());

  private final Model model;
  private final Map<String, Settings> settings = new HashMap<>();

  QueueRules(Model model) {
    this.model = model;
  }

  void set(String queue, boolean paused, Optional<Integer> limit) {
    settings.put(queue, new Settings(paused, limit));
  }

  void forget() {
    settings.clear();
  }

  private Settings of(String queue) {
    return settings.getOrDefault(queue, DEFAULTS);
  }

  boolean isPaused(String queue) {
    return of(queue).paused;
  }

  /** Whether so many more may run. */
  boolean hasRoom(String queue, long more) {
    long running =
        model.jobs().stream()
            .filter(job -> job.isLeased() && job.spec.extras().queue().equals(queue))
            .count();
    return of(queue).limit.filter(limit -> running + more > limit).isEmpty();
  }
}
