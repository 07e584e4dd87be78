package dev.holdfast.cli;

import dev.holdfast.error.HoldfastException;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Parses options with several values, separated by commas. */
final class Lists {

  private Lists() {}

  static List<String> list(String values) {
    return Arrays.stream(values.split(",", -1))
        .map(String::strip)
        .filter(each -> !each.isEmpty())
        .toList();
  }

  static Set<String> set(String values) {
    return Set.copyOf(list(values));
  }

  static Map<String, String> map(String option, String values) {
    Map<String, String> map = new LinkedHashMap<>();
    for (String pair : list(values)) {
      int at = pair.indexOf('=');
      if (at < 1) {
        throw HoldfastException.badConfig(option, pair, "like zone=eu,gpu=yes");
      }
      map.put(pair.substring(0, at), pair.substring(at + 1));
    }
    return map;
  }
}
