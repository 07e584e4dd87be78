package dev.holdfast.chaos.verdict;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * One line of the enqueue log: a job that Holdfast said it has stored.
 *
 * @param number grows with each job
 * @param doomed fails in every attempt it is given
 */
public record Acknowledged(
    String job, long number, int maxAttempts, boolean doomed, Optional<String> target) {

  public static Acknowledged parse(String line) {
    List<String> words = Arrays.asList(line.split(" "));
    return new Acknowledged(
        words.get(0),
        Long.parseLong(words.get(1)),
        Integer.parseInt(words.get(2)),
        Boolean.parseBoolean(words.get(3)),
        Optional.of(words.get(4)).filter(target -> !target.equals("-")));
  }

  public String line() {
    return "%s %d %d %s %s".formatted(job, number, maxAttempts, doomed, target.orElse("-"));
  }
}
