package dev.holdfast.server.ui;

import dev.holdfast.api.Json;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Payload;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/**
 * JSON that can be folded and unfolded.
 *
 * @param kind object, array, string, number or word
 * @param text the text of a leaf; for others, the number of their children
 * @param open whether it is unfolded at first
 */
record JsonTree(String key, String kind, String text, List<JsonTree> children, boolean open) {

  private static final int MOST_CHARS = 24_000;
  private static final int MOST_CHILDREN = 100;
  private static final int MOST_DEPTH = 12;
  private static final int OPEN_TO = 2;
  private static final int LONGEST_TEXT = 2_000;

  /** Of JSON that is too large for a page, shows only the beginning. */
  static JsonTree of(Payload payload) {
    String json = payload.json();
    if (json.length() > MOST_CHARS) {
      return cut(json);
    }
    try {
      return of("", Json.parse("json", json), 0);
    } catch (HoldfastException e) {
      return cut(json); // stored as text, so a name may occur twice
    }
  }

  private static JsonTree cut(String json) {
    String shown = json.length() > LONGEST_TEXT ? json.substring(0, LONGEST_TEXT) + "…" : json;
    return new JsonTree("", "raw", shown, List.of(), true);
  }

  private static JsonTree of(String key, JsonNode node, int depth) {
    if (depth > MOST_DEPTH && node.isContainer()) {
      return new JsonTree(key, "word", "…", List.of(), false);
    }
    if (node.isObject()) {
      List<JsonTree> children = new ArrayList<>();
      for (Map.Entry<String, JsonNode> each : node.properties()) {
        children.add(of(each.getKey(), each.getValue(), depth + 1));
      }
      return container(key, "object", "{" + children.size() + "}", children, depth);
    }
    if (node.isArray()) {
      List<JsonTree> children = new ArrayList<>();
      node.forEach(each -> children.add(of(String.valueOf(children.size()), each, depth + 1)));
      return container(key, "array", "[" + children.size() + "]", children, depth);
    }
    String kind = node.isString() ? "string" : node.isNumber() ? "number" : "word";
    String text = Json.write(node);
    return new JsonTree(
        key,
        kind,
        text.length() > LONGEST_TEXT ? text.substring(0, LONGEST_TEXT) + "…" : text,
        List.of(),
        false);
  }

  private static JsonTree container(
      String key, String kind, String text, List<JsonTree> children, int depth) {
    List<JsonTree> shown =
        children.size() <= MOST_CHILDREN
            ? children
            : new ArrayList<>(children.subList(0, MOST_CHILDREN));
    if (children.size() > MOST_CHILDREN) {
      shown.add(
          new JsonTree("…", "word", (children.size() - MOST_CHILDREN) + " more", List.of(), false));
    }
    return new JsonTree(key, kind, text, shown, depth < OPEN_TO && shown.size() <= 20);
  }

  boolean isLeaf() {
    return !kind.equals("object") && !kind.equals("array");
  }
}
