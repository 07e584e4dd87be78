package dev.holdfast.executor;

import dev.holdfast.error.HoldfastException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** The configured secrets, by name. Not a record, because records show their values. */
final class Secrets {

  private final Map<String, String> byName;

  Secrets(Map<String, String> byName) {
    this.byName = byName;
  }

  /** The secrets that a job names; values of its own take precedence. */
  Map<String, String> named(List<String> names, Map<String, String> own) {
    Map<String, String> named = new LinkedHashMap<>();
    for (String name : names) {
      named.put(
          name,
          Optional.ofNullable(own.get(name))
              .or(() -> Optional.ofNullable(byName.get(name)))
              .orElseThrow(() ->
                  HoldfastException.invalid("secrets", name, "names of secrets that there are")));
    }
    return named;
  }

  /** All values that must be masked: those that the job names, and all configured ones. */
  List<String> toHide(Map<String, String> named) {
    return Stream.concat(named.values().stream(), byName.values().stream()).distinct().toList();
  }
}
