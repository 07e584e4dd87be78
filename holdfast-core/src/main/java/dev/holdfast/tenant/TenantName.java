package dev.holdfast.tenant;

import dev.holdfast.error.HoldfastException;
import java.util.regex.Pattern;

/** A tenant's name. It becomes part of its schema's name, so it is restricted in the same way. */
public record TenantName(String value) {

  private static final Pattern ALLOWED = Pattern.compile("[a-z][a-z0-9_]{0,39}");

  public static final TenantName DEFAULT = new TenantName("default");

  public TenantName {
    if (!ALLOWED.matcher(value).matches()) {
      throw HoldfastException.invalid(
          "tenant", value, "a to z, 0 to 9 and _, starting with a letter, at most 40 characters");
    }
  }

  public SchemaName schemaUnder(SchemaName control) {
    return new SchemaName(control.value() + "_" + value);
  }

  @Override
  public String toString() {
    return value;
  }
}
