package dev.holdfast.chaos.verdict;

import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * One line of the list of slots: a moment of a schedule, and what became of it.
 *
 * @param job empty when none was enqueued for it
 */
public record FiredSlot(
    String schedule, Instant scheduledFor, String status, Optional<String> job) {

  public static FiredSlot parse(String line) {
    List<String> words = Arrays.asList(line.split(" "));
    String name = words.get(0);
    int at = name.lastIndexOf('@');
    return new FiredSlot(
        name.substring(0, at),
        Instant.parse(name.substring(at + 1)),
        words.get(1),
        Optional.of(words.get(2)).filter(job -> !job.equals("-")));
  }

  String name() {
    return schedule + "@" + scheduledFor;
  }

  public String line() {
    return "%s %s %s".formatted(name(), status, job.orElse("-"));
  }
}
