package dev.holdfast.server.http;

import dev.holdfast.server.auth.Principal;
import dev.holdfast.tenant.TenantName;
import io.javalin.http.Context;
import java.util.Optional;

/** Another way than a token to say who one is. */
@FunctionalInterface
public interface Credential {

  /**
   * Who asks; empty where that is for a token to say. Refuses what is wrong.
   *
   * @param tenant that the request says it is about
   * @param atOnce it must not wait behind others
   */
  Optional<Principal> identify(Context http, TenantName tenant, boolean atOnce);
}
