package dev.holdfast.fault;

import dev.holdfast.CoreStatement;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;

/** Which of the engine's statements the rigs of this package came past. Thread-safe. */
final class Reach {

  private static final Pattern SCHEMA =
      Pattern.compile("\\{schema}|\\bholdfast_\\w+|\\bholdfast(?=\\.)|\\bfaults_\\w+");
  private static final Pattern PARAMETER = Pattern.compile("(?<!:):[a-z_]+");
  private static final Pattern COMMENT = Pattern.compile("--[^\\n]*");

  private final Set<String> passed = ConcurrentHashMap.newKeySet();

  void note(Collection<Point> points) {
    points.forEach(point -> passed.add(comparable(point.sql())));
  }

  /** By their names, those that stand in the engine and that nobody came past. */
  Set<String> missing() {
    Set<String> missing = new TreeSet<>();
    for (CoreStatement statement : ofTheEngine()) {
      String sql = comparable(statement.sql());
      if (passed.stream().noneMatch(each -> each.contains(sql))) {
        missing.add(statement.toString());
      }
    }
    return missing;
  }

  private static List<CoreStatement> ofTheEngine() {
    return CoreStatement.all().stream()
        .filter(statement -> !statement.owner().getPackageName().startsWith("dev.holdfast.server"))
        .filter(statement -> !statement.isDdl())
        .toList();
  }

  // As it is sent: with the schema's name in it, and places instead of parameters.
  private static String comparable(String sql) {
    String bare = COMMENT.matcher(sql).replaceAll("");
    String placed = PARAMETER.matcher(bare).replaceAll("?");
    return SCHEMA.matcher(placed).replaceAll("S").replaceAll("\\s+", " ").strip();
  }
}
