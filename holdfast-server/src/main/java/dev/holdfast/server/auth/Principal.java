package dev.holdfast.server.auth;

import dev.holdfast.tenant.TenantName;
import java.util.Optional;

/**
 * The caller of a request.
 *
 * @param name the token's name, chosen by its creator and not unique
 * @param tenant empty for a token that belongs to no tenant
 * @param key the token's id, which tells its requests from those of others
 */
public record Principal(String name, Role role, Optional<TenantName> tenant, String key) {

  private static final int SHOWN = 8;

  /**
   * The caller of every request when authentication is off, which only a loopback address allows.
   */
  public static final Principal EVERYBODY =
      new Principal("local", Role.SYSTEM, Optional.empty(), "local");

  /**
   * The caller as named in the audit: with the beginning of the token's id, because any token can
   * be called admin.
   */
  public String actor() {
    return equals(EVERYBODY) ? name : name + " (" + key.substring(0, SHOWN) + ")";
  }
}
