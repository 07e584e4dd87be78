package dev.holdfast.chaos.verdict;

import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;

/**
 * From when until when schedules were in force, by the clock of whoever made them.
 *
 * @param every how far their slots are apart
 * @param opening before the first of them was made
 * @param open all of them are
 * @param closing all of them still are, and are up to date
 * @param closed none of them is any more
 */
public record Hours(
    List<String> schedules,
    Duration every,
    Instant opening,
    Instant open,
    Instant closing,
    Instant closed) {

  public static Hours parse(String line) {
    List<String> words = Arrays.asList(line.split(" "));
    return new Hours(
        words.subList(5, words.size()),
        Duration.parse(words.get(0)),
        Instant.parse(words.get(1)),
        Instant.parse(words.get(2)),
        Instant.parse(words.get(3)),
        Instant.parse(words.get(4)));
  }

  public String line() {
    return "%s %s %s %s %s %s"
        .formatted(every, opening, open, closing, closed, String.join(" ", schedules));
  }
}
