package dev.holdfast.chaos.ledger;

import java.util.Arrays;
import java.util.List;

/**
 * One line of the ledger's file.
 *
 * @param order grows by one with each line
 * @param millis since the ledger began, by its own monotonic clock
 * @param who said it: a worker process, or the nemesis
 * @param words what was said
 * @param accepted whether the ledger took it
 */
public record Entry(
    long order, long millis, String who, String verb, List<String> words, boolean accepted) {

  public static Entry parse(String line) {
    List<String> parts = Arrays.asList(line.split(" "));
    return new Entry(
        Long.parseLong(parts.get(0)),
        Long.parseLong(parts.get(1)),
        parts.get(2),
        parts.get(3),
        parts.subList(4, parts.size() - 1),
        parts.getLast().equals("ok"));
  }

  public boolean is(String verb) {
    return this.verb.equals(verb);
  }

  public String job() {
    return words.getFirst();
  }

  public long fence() {
    return Long.parseLong(words.get(is("start") ? 2 : 1));
  }

  /** Which grant of which job is spoken of. */
  public String grant() {
    return job() + "@" + fence();
  }

  public int attempt() {
    return Integer.parseInt(words.get(1));
  }

  public List<String> resources() {
    return words.get(3).equals("-") ? List.of() : List.of(words.get(3).split(","));
  }

  /** How an attempt ended, or what Holdfast was asked. */
  public String how() {
    return words.get(2);
  }
}
