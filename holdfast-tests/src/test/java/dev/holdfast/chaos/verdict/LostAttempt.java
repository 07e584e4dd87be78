package dev.holdfast.chaos.verdict;

import java.time.Instant;
import java.util.Arrays;
import java.util.List;

/**
 * One line of Holdfast's own history: an attempt that was granted and lost. It excuses nothing by
 * itself: whoever is said to have had it must have been hit just then.
 */
public record LostAttempt(String job, int number, long fence, String worker, Instant startedAt) {

  public static LostAttempt parse(String line) {
    List<String> words = Arrays.asList(line.split(" "));
    return new LostAttempt(
        words.get(0),
        Integer.parseInt(words.get(1)),
        Long.parseLong(words.get(2)),
        words.get(3),
        Instant.parse(words.get(4)));
  }

  public String line() {
    return "%s %d %d %s %s".formatted(job, number, fence, worker, startedAt);
  }
}
