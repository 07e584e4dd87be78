package dev.holdfast.executor;

import dev.holdfast.error.HoldfastException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** The secrets that are configured here, by name. Not a record: those show their values. */
final class Secrets {

  private final Map<String, String> byName;

  Secrets(Map<String, String> byName) {
    this.byName = byName;
  }

  /** Those that a job names, its own first. */
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

  /** What must appear nowhere: whatever the job named, and all that is configured. */
  List<String> toHide(Map<String, String> named) {
    return Stream.concat(named.values().stream(), byName.values().stream()).distinct().toList();
  }
}
