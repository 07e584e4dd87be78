package dev.holdfast.server.dialect.agents;

import dev.holdfast.error.HoldfastException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.regex.Pattern;

/**
 * A file under {@code configs/}. It becomes a word of a command line, so there is nothing in it
 * that would end the word, or begin an option.
 *
 * @param names of the directories below {@code configs}, and of the file
 */
record ConfigPath(List<String> names) {

  static final String DIRECTORY = "configs";

  private static final int MOST_CHARS = 200;
  private static final Pattern NAME = Pattern.compile("[\\p{L}\\p{N}_][\\p{L}\\p{N}_.+@=,-]*");
  private static final String ALLOWED =
      "a path below configs/, of names that begin with a letter, digit or _ and go on with"
          + " these or . + @ = , -";

  ConfigPath {
    names = List.copyOf(names);
  }

  /** With {@code configs/} before it or without: both are the same file. */
  static ConfigPath of(String field, String text) {
    String below = text.startsWith(DIRECTORY + "/") ? text.substring(DIRECTORY.length() + 1) : text;
    List<String> names = List.of(below.split("/", -1));
    if (text.length() > MOST_CHARS || !names.stream().allMatch(n -> NAME.matcher(n).matches())) {
      throw HoldfastException.invalid(field, text, ALLOWED + ", at most " + MOST_CHARS);
    }
    return new ConfigPath(names);
  }

  /** That of a job whose configuration came without a name. */
  static ConfigPath ofJob(UUID id) {
    return new ConfigPath(List.of(id + ".yaml"));
  }

  /** From the root of the shared directory. */
  List<String> fromRoot() {
    List<String> path = new ArrayList<>();
    path.add(DIRECTORY);
    path.addAll(names);
    return path;
  }

  /** As jobs may name it, too. */
  String belowConfigs() {
    return String.join("/", names);
  }

  @Override
  public String toString() {
    return String.join("/", fromRoot());
  }
}
