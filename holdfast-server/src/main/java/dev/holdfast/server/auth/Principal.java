package dev.holdfast.server.auth;

import dev.holdfast.tenant.TenantName;
import java.util.Optional;

/**
 * Who asks.
 *
 * @param name as it stands in the record of acts
 * @param tenant empty for one that belongs to none
 * @param key tells its requests from others', for limits
 */
public record Principal(String name, Role role, Optional<TenantName> tenant, String key) {

  /** With authentication off, on a machine's own address. */
  public static final Principal EVERYBODY =
      new Principal("local", Role.SYSTEM, Optional.empty(), "local");
}
