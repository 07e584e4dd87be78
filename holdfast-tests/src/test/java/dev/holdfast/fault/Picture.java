package dev.holdfast.fault;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * All rows at one moment. Numbers that sequences gave are replaced by their rank, and ids by the
 * order in which they appear, so that the same thing done twice looks the same.
 */
record Picture(List<String> rows) {

  private static final Pattern UUIDS =
      Pattern.compile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}");
  private static final Pattern FENCES = Pattern.compile("(\"fence\": )(\\d+)");
  private static final Pattern SEQUENCES = Pattern.compile("(\"seq\": )(\\d+)");
  private static final Pattern LANES = Pattern.compile("(\"lane(?:_id)?\": )(\\d+)");
  private static final Pattern IDS = Pattern.compile("(\"id\": )(\\d+)");

  /** Of rows as JSON, each after the name of its table; jobs come first, in their order. */
  static Picture of(List<String> raw) {
    List<String> rows = ranked(ranked(ranked(raw, FENCES), SEQUENCES), LANES);
    Map<String, List<String>> byTable =
        rows.stream().collect(Collectors.groupingBy(row -> row.substring(0, row.indexOf(' '))));
    Map<String, String> names = new HashMap<>();
    List<String> all =
        rows.stream()
            .map(row -> UUIDS.matcher(row).replaceAll(found -> named(names, found.group())))
            .toList();
    return new Picture(
        byTable.keySet().stream()
            .flatMap(table ->
                ranked(all.stream().filter(row -> row.startsWith(table + " ")).toList(), IDS)
                    .stream())
            .sorted()
            .toList());
  }

  private static String named(Map<String, String> names, String id) {
    return names.computeIfAbsent(id, fresh -> "id-" + (names.size() + 1));
  }

  private static List<String> ranked(List<String> rows, Pattern pattern) {
    List<Long> numbers =
        List.copyOf(
            rows.stream()
                .flatMap(row -> pattern.matcher(row).results())
                .map(found -> Long.valueOf(found.group(2)))
                .collect(Collectors.toCollection(() -> new TreeSet<>(List.of(0L)))));
    return rows.stream()
        .map(row -> pattern.matcher(row).replaceAll(found -> rank(numbers, found)))
        .toList();
  }

  private static String rank(List<Long> numbers, MatchResult found) {
    return found.group(1) + "#" + numbers.indexOf(Long.valueOf(found.group(2)));
  }

  Picture without(String table) {
    return new Picture(rows.stream().filter(row -> !row.startsWith(table + " ")).toList());
  }

  long count(String table) {
    return rows.stream().filter(row -> row.startsWith(table + " ")).count();
  }

  /** What is here and not there, and the other way round. */
  String differsFrom(Picture other) {
    return Stream.concat(
            rows.stream().filter(row -> !other.rows.contains(row)).map(row -> "  + " + row),
            other.rows.stream().filter(row -> !rows.contains(row)).map(row -> "  - " + row))
        .collect(Collectors.joining("\n"));
  }
}
