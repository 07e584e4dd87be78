package dev.holdfast.server.http;

import dev.holdfast.server.ServerConfig;
import dev.holdfast.server.auth.Principal;
import dev.holdfast.server.auth.Role;
import dev.holdfast.server.auth.Tokens;
import dev.holdfast.tenant.TenantName;
import io.javalin.http.Context;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/** Lets requests in, or not: where they come from, who sends them, and what that one may do. */
final class Gate {

  private static final String BEARER = "Bearer ";
  private static final String TENANT = "X-Holdfast-Tenant";
  private static final Set<String> OWN_NAMES = Set.of("localhost", "127.0.0.1", "[::1]");

  private final ServerConfig config;
  private final Tokens tokens;
  private final Throttle throttle;

  Gate(ServerConfig config, Tokens tokens, Throttle throttle) {
    this.config = config;
    this.tokens = tokens;
    this.throttle = throttle;
  }

  /**
   * Refuses what a page of somebody else's could have sent: by another name than ours (a name that
   * was made to point here), from another origin, or as a form.
   */
  void checkOrigin(Context http) {
    String host = http.req().getServerName().toLowerCase(Locale.ROOT); // a proxy's word counts
    boolean known =
        config.isLoopback()
            ? OWN_NAMES.contains(host) || config.names().contains(host)
            : config.names().isEmpty() || config.names().contains(host);
    if (!known) {
      throw Refusal.of(421, "UNKNOWN_HOST", "this server does not answer to that name");
    }
    String origin = http.header("Origin");
    if (origin != null && !hostOfOrigin(origin).equals(host)) {
      throw Refusal.of(403, "FOREIGN_ORIGIN", "requests of other sites' pages are not served");
    }
    boolean hasBody = http.contentLength() > 0 || http.header("Transfer-Encoding") != null;
    String type = Optional.ofNullable(http.contentType()).orElse("").toLowerCase(Locale.ROOT);
    if (hasBody && !type.split(";", 2)[0].strip().equals("application/json")) {
      throw Refusal.of(415, "NOT_JSON", "a body must be sent as application/json");
    }
  }

  private static String hostOfOrigin(String origin) {
    try {
      String host = new URI(origin).getHost();
      return host == null ? "" : host.toLowerCase(Locale.ROOT);
    } catch (URISyntaxException e) {
      return "";
    }
  }

  /** Who sends it. */
  Principal identify(Context http) {
    if (!config.auth()) {
      return throttled(Principal.EVERYBODY);
    }
    String header = http.header("Authorization");
    if (header == null || !header.startsWith(BEARER)) {
      throw Refusal.of(401, "NO_TOKEN", "say who you are: Authorization: Bearer <token>");
    }
    return throttled(
        tokens
            .principal(header.substring(BEARER.length()).strip())
            .orElseThrow(
                () -> Refusal.of(401, "BAD_TOKEN", "the token is unknown, expired or revoked")));
  }

  private Principal throttled(Principal principal) {
    if (!throttle.admits(principal.key())) {
      throw Refusal.of(429, "TOO_MANY_REQUESTS", "more requests a second than a token may send");
    }
    return principal;
  }

  void authorise(Principal principal, Role needed) {
    if (!principal.role().mayDo(needed)) {
      throw Refusal.of(
          403,
          "FORBIDDEN",
          "this needs the role %s; the token's is %s"
              .formatted(needed.stored(), principal.role().stored()));
    }
  }

  /** The tenant that a request is about: the token's own, unless that belongs to none. */
  static TenantName tenant(Context http, Principal principal) {
    Optional<TenantName> asked =
        Optional.ofNullable(http.header(TENANT))
            .filter(name -> !name.isBlank())
            .map(TenantName::new);
    if (principal.tenant().isEmpty()) {
      return asked.orElse(TenantName.DEFAULT);
    }
    TenantName own = principal.tenant().get();
    if (asked.isPresent() && !asked.get().equals(own)) {
      throw Refusal.of(403, "OTHER_TENANT", "the token belongs to another tenant");
    }
    return own;
  }
}
