package dev.holdfast.server.api;

import dev.holdfast.error.HoldfastException;

/**
 * Names that are reserved for the server's own jobs, like deliveries to webhooks: a caller that
 * could enqueue or take such jobs could act in the server's name.
 */
public final class Reserved {

  private static final String PREFIX = "holdfast.";

  private Reserved() {}

  public static boolean is(String name) {
    return name.startsWith(PREFIX);
  }

  public static void check(String field, String name) {
    if (is(name)) {
      throw HoldfastException.invalid(field, name, "names that do not begin with " + PREFIX);
    }
  }
}
