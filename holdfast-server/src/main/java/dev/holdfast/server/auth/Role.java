package dev.holdfast.server.auth;

import dev.holdfast.error.HoldfastException;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;

/**
 * What a token may do. Submitter and worker include viewer; each role from operator on includes all
 * before it.
 */
public enum Role {
  /** Sees jobs without their arguments, queues, resources, schedules, workers, settings. */
  VIEWER,
  /** Enqueues. */
  SUBMITTER,
  /** Takes jobs and reports on them. */
  WORKER,
  /** Acts on jobs, queues, resources and schedules; does not cancel. */
  OPERATOR,
  /** Does everything within a tenant. */
  ADMIN,
  /** Belongs to no tenant; the only role that manages tenants, kinds and nodes. */
  SYSTEM;

  private Set<Role> includes() {
    return switch (this) {
      case VIEWER -> EnumSet.of(VIEWER);
      case SUBMITTER -> EnumSet.of(VIEWER, SUBMITTER);
      case WORKER -> EnumSet.of(VIEWER, WORKER);
      case OPERATOR -> EnumSet.of(VIEWER, SUBMITTER, WORKER, OPERATOR);
      case ADMIN -> EnumSet.of(VIEWER, SUBMITTER, WORKER, OPERATOR, ADMIN);
      case SYSTEM -> EnumSet.allOf(Role.class);
    };
  }

  public boolean mayDo(Role needed) {
    return includes().contains(needed);
  }

  public String stored() {
    return name().toLowerCase(Locale.ROOT);
  }

  public static Role of(String stored) {
    return Arrays.stream(values())
        .filter(role -> role.stored().equals(stored))
        .findFirst()
        .orElseThrow(() ->
            HoldfastException.invalid(
                "role", stored, "viewer, submitter, worker, operator, admin, system"));
  }
}
