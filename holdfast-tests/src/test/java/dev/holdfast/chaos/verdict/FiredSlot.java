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

  public static FiredSlot parse(String line) {
    String[] words = line.split(" ");
    int at = words[0].lastIndexOf('@');
    return new FiredSlot(
        words[0].substring(0, at),
        Instant.parse(words[0].substring(at + 1)),
        words[1],
        Optional.of(words[2]).filter(job -> !job.equals("-")));
  }

  String name() {
    return schedule + "@" + scheduledFor;
  }

  public String line() {
    return "%s %s %s".formatted(name(), status, job.orElse("-"));
  }
}
