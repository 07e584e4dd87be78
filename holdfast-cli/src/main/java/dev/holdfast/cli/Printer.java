package dev.holdfast.cli;

import dev.holdfast.api.Json;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Prints an answer: a list as a table, a single object as its fields, or everything as JSON. */
final class Printer {

  private static final int WIDEST_CELL = 60;
  private static final String GAP = "  ";
  private static final Pattern CONTROL = Pattern.compile("[\\p{Cc}&&[^\\n\\t]]");

  private final PrintWriter out;
  private final Remote.Output output;

  Printer(PrintWriter out, Remote.Output output) {
    this.out = out;
    this.output = output;
  }

  /**
   * Prints an answer.
   *
   * @param columns the columns of its list; empty for a single object
   */
  void print(ObjectNode answer, List<String> columns) {
    if (output == Remote.Output.JSON) {
      out.println(json(answer));
    } else if (columns.isEmpty()) {
      printFields(answer);
    } else {
      printTable(answer, columns);
    }
    out.flush();
  }

  private void printFields(ObjectNode answer) {
    int width = answer.propertyNames().stream().mapToInt(String::length).max().orElse(0);
    for (Map.Entry<String, JsonNode> field : answer.properties()) {
      out.println(padded(harmless(field.getKey()), width) + GAP + text(field.getValue()));
    }
  }

  private void printTable(ObjectNode answer, List<String> columns) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(columns.stream().map(name -> name.toUpperCase(Locale.ROOT)).toList());
    for (JsonNode each : list(answer)) {
      rows.add(columns.stream().map(name -> cut(text(each.path(name)))).toList());
    }
    List<Integer> widths =
        IntStream.range(0, columns.size())
            .mapToObj(
                column -> rows.stream().mapToInt(row -> row.get(column).length()).max().orElse(0))
            .toList();
    for (List<String> row : rows) {
      String line =
          IntStream.range(0, row.size())
              .mapToObj(column -> padded(row.get(column), widths.get(column)))
              .collect(Collectors.joining(GAP));
      out.println(line.stripTrailing());
    }
    if (rows.size() == 1) {
      out.println("(none)");
    }
    JsonNode after = answer.path("after");
    if (after.isString() || after.isNumber()) {
      out.println("There is more: --after " + text(after));
    }
  }

  private static List<JsonNode> list(ObjectNode answer) {
    for (JsonNode field : answer.values()) {
      if (field.isArray()) {
        List<JsonNode> items = new ArrayList<>();
        field.forEach(items::add);
        return items;
      }
    }
    return List.of();
  }

  private static String text(JsonNode node) {
    if (node.isMissingNode() || node.isNull()) {
      return "-";
    }
    if (node.isString()) {
      return harmless(node.stringValue());
    }
    return node.isArray() && node.valueStream().allMatch(JsonNode::isString)
        ? node.valueStream()
            .map(each -> harmless(each.stringValue()))
            .collect(Collectors.joining(","))
        : json(node);
  }

  // JSON need not escape DEL and the controls behind it, but may.
  private static String json(JsonNode node) {
    return Terminal.harmlessJson(Json.write(node));
  }

  // Text of others must not control the terminal, like moving the cursor.
  private static String harmless(String text) {
    return CONTROL.matcher(text).replaceAll("?");
  }

  private static String cut(String text) {
    String line = text.replaceAll("\\s+", " ");
    return line.length() <= WIDEST_CELL ? line : line.substring(0, WIDEST_CELL - 1) + "…";
  }

  private static String padded(String text, int width) {
    return text + " ".repeat(Math.max(0, width - text.length()));
  }
}
