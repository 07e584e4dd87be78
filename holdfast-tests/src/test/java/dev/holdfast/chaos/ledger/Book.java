package dev.holdfast.chaos.ledger;

import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What the ledger writes down, and by which it answers. For one thread.
 *
 * <pre>
 * hello worker                          who speaks on this connection
 * start job attempt fence resources     comma-separated, or - for none
 * effect job fence
 * end job fence how
 * anything else                         is only written down
 * </pre>
 */
final class Book {

  private final long began = System.nanoTime();
  private final Writer file;
  private final Map<String, Long> largestFences = new HashMap<>();
  private final Map<String, List<String>> started = new HashMap<>();
  private long order;

  Book(Path file) throws IOException {
    this.file =
        Files.newBufferedWriter(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
  }

  /** Answers, after it has written down what it was told and what it answers. */
  String record(String who, String line) {
    String answer = accepts(line.split(" ")) ? "ok" : "refused";
    long millis = (System.nanoTime() - began) / 1_000_000;
    try {
      file.write("%d %d %s %s %s\n".formatted(++order, millis, who, line, answer));
      file.flush();
    } catch (IOException e) {
      throw new IllegalStateException("The ledger cannot write", e);
    }
    return answer;
  }

  private boolean accepts(String[] words) {
    return switch (words[0]) {
      case "start" -> start(words[1], Long.parseLong(words[3]), words[4]);
      case "effect" -> isCurrent(started.get(words[1] + words[2]), Long.parseLong(words[2]));
      case "end" -> isCurrent(started.remove(words[1] + words[2]), Long.parseLong(words[2]));
      default -> true;
    };
  }

  private boolean start(String job, long fence, String resources) {
    List<String> names = new ArrayList<>();
    names.add(job); // a job is a thing to be acted upon by one attempt, too
    if (!resources.equals("-")) {
      names.addAll(List.of(resources.split(",")));
    }
    if (!isCurrent(names, fence)) {
      return false;
    }
    names.forEach(name -> largestFences.put(name, fence));
    started.put(job + fence, names);
    return true;
  }

  private boolean isCurrent(List<String> names, long fence) {
    return Optional.ofNullable(names).stream()
        .flatMap(List::stream)
        .mapToLong(name -> largestFences.getOrDefault(name, 0L))
        .max()
        .stream()
        .anyMatch(largest -> largest <= fence);
  }
}
