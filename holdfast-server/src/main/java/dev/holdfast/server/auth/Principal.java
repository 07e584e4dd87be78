package dev.holdfast.server.auth;

import dev.holdfast.tenant.TenantName;
import java.util.Optional;

/**
 * Who asks.
 *
 * @param name given by whoever made the token, and not only once
 * @param tenant empty for one that belongs to none
 * @param key the token's id: tells its requests from others'
 */
public record Principal(String name, Role role, Optional<TenantName> tenant, String key) {

  private static final int SHOWN = 8;

  /** With authentication off, on a machine's own address. */
  public static final Principal EVERYBODY =
      new Principal("local", Role.SYSTEM, Optional.empty(), "local");

  /** As it stands in the record of acts: anybody can be called admin. */
  public String actor() {
    return equals(EVERYBODY) ? name : name + " (" + key.substring(0, SHOWN) + ")";
  }
}
