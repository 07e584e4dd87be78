package dev.holdfast.queue;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** Writes a list of texts as PostgreSQL's text form of an array. */
final class PgArray {

  private PgArray() {}

  static @Nullable String literal(@Nullable List<String> values) {
    if (values == null) {
      return null;
    }
    StringBuilder literal = new StringBuilder("{");
    for (String value : values) {
      literal.append(literal.length() > 1 ? "," : "");
      literal.append('"').append(value.replace("\\", "\\\\").replace("\"", "\\\"")).append('"');
    }
    return literal.append('}').toString();
  }
}
