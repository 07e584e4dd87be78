package dev.holdfast.chaos.verdict;

import java.time.Instant;
import java.util.Optional;

/**
 * One line of the list of slots: a moment of a schedule, and what became of it.
 *
 * @param job empty when none was enqueued for it
 */
public record FiredSlot(
    String schedule, Instant scheduledFor, String status, Optional<String> job) {

  String name() {
    return schedule + "@" + scheduledFor;
  }

  public String line() {
    return "%s %s %s".formatted(name(), status, job.orElse("-"));
  }
}
