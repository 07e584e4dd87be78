package dev.holdfast.server.http;

import dev.holdfast.server.auth.Principal;
import dev.holdfast.tenant.TenantName;
import io.javalin.http.Context;
import java.util.Optional;

/** Identifies callers by something other than a token. */
@FunctionalInterface
public interface Credential {

  /**
   * The caller; empty where a token has to identify it. Throws if the credential is wrong.
   *
   * @param tenant the tenant that the request names
   * @param atOnce whether the request is urgent and must not wait behind others
   */
  Optional<Principal> identify(Context http, TenantName tenant, boolean atOnce);
}
