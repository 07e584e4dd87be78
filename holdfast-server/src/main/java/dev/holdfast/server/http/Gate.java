package dev.holdfast.server.http;

import dev.holdfast.api.ApiVersion;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.server.ServerConfig;
import dev.holdfast.server.auth.Principal;
import dev.holdfast.server.auth.Role;
import dev.holdfast.server.auth.Sessions;
import dev.holdfast.server.auth.Tokens;
import dev.holdfast.tenant.TenantName;
import io.javalin.http.Context;
import jakarta.servlet.http.HttpServletRequest;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/** Admits or refuses requests: by their origin, their caller, and the caller's role. */
final class Gate {

  private static final String JSON = "application/json";
  private static final String FORM = "application/x-www-form-urlencoded";
  private static final int MOST_OF_STRANGERS = 8 * 1024;
  private static final Pattern BAD_ESCAPE = Pattern.compile("%(?![0-9A-Fa-f]{2})");
  private static final String TENANT = "X-Holdfast-Tenant";
  private static final Set<String> OWN_PAGES = Set.of("same-origin", "none");
  private static final Set<String> OWN_NAMES = Set.of("localhost", "127.0.0.1", "[::1]");

  private final ServerConfig config;
  private final boolean loopback; // looked up once: a name might need DNS
  private final Tokens tokens;
  private final Sessions sessions;
  private final Throttle throttle;

  Gate(ServerConfig config, Tokens tokens, Sessions sessions, Throttle throttle) {
    this.config = config;
    this.loopback = config.address().isLoopback();
    this.tokens = tokens;
    this.sessions = sessions;
    this.throttle = throttle;
  }

  /**
   * Refuses requests that a page of another site could have sent: under a host name that is not
   * ours (but was made to point here), from another origin, or as a form.
   */
  void checkOrigin(Context http, Style style) {
    String host = http.req().getServerName().toLowerCase(Locale.ROOT); // honours trusted proxies
    boolean known =
        loopback
            ? OWN_NAMES.contains(host) || config.trust().names().contains(host)
            : config.trust().names().isEmpty() || config.trust().names().contains(host);
    if (!known) {
      throw Refusal.of(421, "UNKNOWN_HOST", "this server does not answer to that name");
    }
    String origin = http.header("Origin");
    if (origin != null && !authority(origin).equals(authority(http.req()))) {
      throw Refusal.of(403, "FOREIGN_ORIGIN", "requests of other sites' pages are not served");
    }
    switch (style) {
      case NATIVE -> checkType(http, JSON, "NOT_JSON"); // a form cannot have this type
      case PAGE -> checkType(http, FORM, "NOT_A_FORM");
      case DIALECT -> checkSite(http);
    }
  }

  private static void checkType(Context http, String wanted, String code) {
    boolean hasBody = http.contentLength() > 0 || http.header("Transfer-Encoding") != null;
    String type = Optional.ofNullable(http.header("Content-Type")).orElse("");
    if (hasBody && !type.split(";", 2)[0].strip().equalsIgnoreCase(wanted)) {
      throw Refusal.of(415, code, "a body must be sent as " + wanted);
    }
  }

  /** Refuses a large form of a caller without a session before it is read into memory. */
  void checkSize(Context http) {
    boolean unknown = http.header("Transfer-Encoding") != null;
    if (unknown || http.contentLength() > MOST_OF_STRANGERS) {
      throw Refusal.of(
          413, "TOO_LARGE", "this form has at most " + MOST_OF_STRANGERS + " bytes, said ahead");
    }
  }

  /** Refuses a form that cannot be decoded, or that no page of ours made for this visitor. */
  void checkForm(Context http, TenantName tenant) {
    if (BAD_ESCAPE.matcher(http.body()).find()) {
      throw HoldfastException.invalid("form", "a % that begins nothing", "%XX of UTF-8");
    }
    boolean byToken = Bearer.of(http).isPresent();
    if (!byToken && !Visit.of(http).admits(tenant, http.formParam(Visit.CSRF_FIELD))) {
      throw Refusal.of(
          403, "BAD_FORM", "this form is out of date, or of another tenant; load the page again");
    }
  }

  // A page of another site can make a browser send any request, sometimes without an Origin. But
  // every current browser says in this header which site caused it; "none" means the user did.
  private static void checkSite(Context http) {
    String site = http.header("Sec-Fetch-Site");
    if (site != null && !OWN_PAGES.contains(site)) {
      throw Refusal.of(403, "FOREIGN_ORIGIN", "requests of other sites' pages are not served");
    }
  }

  // Includes the port, because another port is another program, possibly of another user.
  private static String authority(String origin) {
    try {
      URI uri = new URI(origin);
      return uri.getHost() == null
          ? ""
          : authority(String.valueOf(uri.getScheme()), uri.getHost(), uri.getPort());
    } catch (URISyntaxException e) {
      return "";
    }
  }

  private static String authority(HttpServletRequest http) {
    return authority(http.getScheme(), http.getServerName(), http.getServerPort());
  }

  private static String authority(String scheme, String host, int port) {
    boolean isUsual = port < 0 || port == (scheme.equals("https") ? 443 : 80);
    return host.toLowerCase(Locale.ROOT) + (isUsual ? "" : ":" + port);
  }

  /**
   * Refuses unknown query parameters: a mistyped filter must not be ignored. Clients of a dialect
   * may send more than we know.
   */
  void checkQueries(Context http, Route route) {
    String query = Optional.ofNullable(http.queryString()).orElse("");
    if (BAD_ESCAPE.matcher(query).find()) {
      throw HoldfastException.invalid("query", query, "%XX of UTF-8");
    }
    if (route.style() == Style.DIALECT) {
      return;
    }
    http.queryParamMap().keySet().stream()
        .filter(name -> !route.queries().contains(name))
        .findFirst()
        .ifPresent(name -> {
          throw HoldfastException.invalid(
              name, "in the query", "known: " + route.queries().stream().sorted().toList());
        });
  }

  /** Refuses clients that were made for another version of the API. */
  void checkVersion(Context http) {
    Optional.ofNullable(http.header(ApiVersion.HEADER)).ifPresent(ApiVersion::check);
  }

  /** Identifies the caller: by the route's credential, by a token or, on pages, by a session. */
  Principal identify(Context http, Route route) {
    return route
        .credential()
        .flatMap(credential ->
            credential.identify(
                http, asked(http, route).orElse(TenantName.DEFAULT), route.isUrgent()))
        .map(this::throttled)
        .orElseGet(() -> byTokenOrSession(http, route));
  }

  private Principal byTokenOrSession(Context http, Route route) {
    if (!config.trust().auth()) {
      return throttled(Principal.EVERYBODY);
    }
    Optional<String> token = Bearer.of(http);
    if (token.isPresent()) {
      return throttled(
          (route.isUrgent() ? tokens.principalAtOnce(token.get()) : tokens.principal(token.get()))
              .orElseThrow(
                  () -> Refusal.of(401, "BAD_TOKEN", "the token is unknown, expired or revoked")));
    }
    if (route.isPage()) {
      return throttled(
          Visit.of(http)
              .session()
              .flatMap(sessions::principal)
              .orElseThrow(() -> Refusal.of(401, "NO_SESSION", "sign in to see this page")));
    }
    throw Refusal.of(401, "NO_TOKEN", "say who you are: Authorization: Bearer <token>");
  }

  /** Whether the caller would still be admitted: a stream may outlast its token. */
  boolean isKnown(Context http, Route route) {
    return !config.trust().auth()
        || Bearer.of(http)
            .map(token -> tokens.principal(token).isPresent())
            .orElseGet(() ->
                route.isPage()
                    && Visit.of(http).session().flatMap(sessions::principal).isPresent());
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

  /**
   * The tenant that a request is about: the token's own; for a token without a tenant, the one that
   * the path, the header or, on pages, a cookie names.
   */
  static TenantName tenant(Context http, Route route, Principal principal) {
    Optional<TenantName> asked = asked(http, route);
    if (principal.tenant().isEmpty()) {
      return asked
          .or(() -> route.isPage() ? Visit.of(http).tenant() : Optional.empty())
          .orElse(TenantName.DEFAULT);
    }
    TenantName own = principal.tenant().get();
    if (asked.isPresent() && !asked.get().equals(own)) {
      throw Refusal.of(403, "OTHER_TENANT", "the token belongs to another tenant");
    }
    return own;
  }

  private static Optional<TenantName> asked(Context http, Route route) {
    Optional<TenantName> inHeader =
        Optional.ofNullable(http.header(TENANT))
            .filter(name -> !name.isBlank())
            .map(TenantName::new);
    Optional<TenantName> inPath =
        route.tenantInPath().map(name -> new TenantName(http.pathParam(name)));
    if (inPath.isPresent() && inHeader.isPresent() && !inPath.equals(inHeader)) {
      throw Refusal.of(403, "OTHER_TENANT", "path and header name different tenants");
    }
    return inPath.or(() -> inHeader);
  }
}
