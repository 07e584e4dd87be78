package dev.holdfast.server;

import dev.holdfast.error.HoldfastException;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;

/** What a node does. A node without the scheduler's role never decides about a slot. */
public enum ServerRole {
  /** Answers requests. */
  WEB,
  /** Decides about slots. */
  SCHEDULER,
  /** Runs the server's own jobs. */
  WORKER;

  /** Parses a list like {@code web,scheduler}. */
  public static Set<ServerRole> parse(String names) {
    Set<ServerRole> roles = EnumSet.noneOf(ServerRole.class);
    Arrays.stream(names.split(",", -1)).map(String::strip).map(ServerRole::of).forEach(roles::add);
    return roles;
  }

  private static ServerRole of(String name) {
    return Arrays.stream(values())
        .filter(role -> role.name().toLowerCase(Locale.ROOT).equals(name))
        .findFirst()
        .orElseThrow(() -> HoldfastException.badConfig("roles", name, "web, scheduler, worker"));
  }
}
