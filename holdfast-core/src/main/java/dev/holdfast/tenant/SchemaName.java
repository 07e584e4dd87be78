package dev.holdfast.tenant;

import dev.holdfast.error.HoldfastException;
import java.util.regex.Pattern;

/**
 * The name of a schema. It is the only value ever substituted into SQL text, so no other characters
 * than those of such names are allowed.
 */
public record SchemaName(String value) {

  private static final Pattern ALLOWED = Pattern.compile("[a-z][a-z0-9_]{0,62}");

  public SchemaName {
    if (!ALLOWED.matcher(value).matches()) {
      throw HoldfastException.invalid(
          "schema", value, "a to z, 0 to 9 and _, starting with a letter, at most 63 characters");
    }
  }

  public String render(String sql) {
    return sql.replace("{schema}", value);
  }
}
