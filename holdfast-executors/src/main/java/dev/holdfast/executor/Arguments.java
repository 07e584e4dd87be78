package dev.holdfast.executor;

import dev.holdfast.error.HoldfastException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Reads the arguments of a job, field by field. Errors name the field, but not its value, which may
 * be a secret.
 */
final class Arguments {

  private final Map<?, ?> fields;

  /** Refuses unknown fields: a typo must not become a default. */
  Arguments(@Nullable Object args, Set<String> known) {
    if (!(args instanceof Map<?, ?> map)) {
      throw wrong("args", args, "an object");
    }
    for (Object name : map.keySet()) {
      if (!known.contains(String.valueOf(name))) {
        throw HoldfastException.invalid(
            "args", String.valueOf(name), String.join(", ", new TreeSet<>(known)));
      }
    }
    this.fields = map;
  }

  Optional<String> text(String field) {
    return value(field).map(value -> text(field, value));
  }

  boolean flag(String field) {
    return value(field)
        .map(value -> {
          if (value instanceof Boolean flag) {
            return flag;
          }
          throw wrong(field, value, "true or false");
        })
        .orElse(false);
  }

  List<String> texts(String field) {
    Object value = value(field).orElse(List.of());
    if (!(value instanceof List<?> list)) {
      throw wrong(field, value, "a list of strings");
    }
    List<String> texts = new ArrayList<>();
    for (Object element : list) {
      texts.add(text(field + "[" + texts.size() + "]", element));
    }
    return texts;
  }

  List<Arguments> objects(String field, Set<String> known) {
    Object value = value(field).orElse(List.of());
    if (!(value instanceof List<?> list)) {
      throw wrong(field, value, "a list of objects");
    }
    return list.stream().map(each -> new Arguments(each, known)).toList();
  }

  Optional<Double> number(String field, double least, double most) {
    return value(field)
        .map(value -> {
          if (value instanceof Number number
              && number.doubleValue() >= least
              && number.doubleValue() <= most) {
            return number.doubleValue();
          }
          throw wrong(field, value, "a number of " + least + " to " + most);
        });
  }

  Map<String, String> textByName(String field) {
    Object value = value(field).orElse(Map.of());
    if (!(value instanceof Map<?, ?> map)) {
      throw wrong(field, value, "an object of strings");
    }
    Map<String, String> texts = new LinkedHashMap<>();
    map.forEach((name, text) -> {
      String key = String.valueOf(name);
      texts.put(key, text(field + "." + key, text));
    });
    return texts;
  }

  Optional<Duration> seconds(String field, Duration most) {
    return value(field)
        .map(value -> {
          if (value instanceof Number number
              && number.doubleValue() > 0
              && number.doubleValue() <= most.toSeconds()) {
            return Duration.ofMillis(Math.max(1, Math.round(number.doubleValue() * 1_000)));
          }
          throw wrong(field, value, "seconds, more than 0 and at most " + most.toSeconds());
        });
  }

  private Optional<Object> value(String field) {
    return Optional.ofNullable(fields.get(field));
  }

  private static String text(String field, @Nullable Object value) {
    if (!(value instanceof String text)) {
      throw wrong(field, value, "a string");
    }
    if (text.indexOf('\0') >= 0) {
      throw HoldfastException.invalid(field, "a string with a NUL", "a string without");
    }
    return text;
  }

  private static HoldfastException wrong(String field, @Nullable Object value, String allowed) {
    String shown =
        switch (value) {
          case null -> "null";
          case String text -> "a string of " + text.length() + " characters";
          case List<?> list -> "a list of " + list.size();
          case Map<?, ?> map -> "an object of " + map.size();
          default -> String.valueOf(value); // numbers, true, false
        };
    return HoldfastException.invalid(field, shown, allowed);
  }
}
