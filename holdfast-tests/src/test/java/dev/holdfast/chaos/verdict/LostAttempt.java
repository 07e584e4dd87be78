package dev.holdfast.chaos.verdict;

import java.time.Instant;

/**
 * One line of Holdfast's own history: an attempt that was granted and lost. It excuses nothing by
 * itself: whoever is said to have had it must have been hit just then.
 */
public record LostAttempt(String job, int number, long fence, String worker, Instant startedAt) {

  public static LostAttempt parse(String line) {
    String[] words = line.split(" ");
    return new LostAttempt(
        words[0],
        Integer.parseInt(words[1]),
        Long.parseLong(words[2]),
        words[3],
        Instant.parse(words[4]));
  }

  public String line() {
    return "%s %d %d %s %s".formatted(job, number, fence, worker, startedAt);
  }
}
