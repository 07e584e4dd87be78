package dev.holdfast.server.ui;

import dev.holdfast.server.ServerConfig;
import dev.holdfast.server.auth.Role;
import dev.holdfast.server.auth.Sessions;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Problems;
import dev.holdfast.server.http.Refusal;
import dev.holdfast.server.http.Request;
import dev.holdfast.server.http.Route;
import dev.holdfast.server.http.Visit;
import dev.holdfast.tenant.TenantName;
import io.javalin.http.Context;
import jakarta.servlet.http.HttpServletRequest;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/** Pages to sign in with a token and to sign out, and the page that shows an error. */
final class LoginPage {

  static final String HOME = "/ui/overview";

  private static final Pattern OWN_MACHINE =
      Pattern.compile("127(\\.\\d{1,3}){3}|\\[?(::1|0:0:0:0:0:0:0:1)]?");

  /** What the template shows. */
  record View(String csrf, String theme, String next, String problem, String assets) {}

  /** What the template for errors shows. */
  record Problem(
      int status, String title, String code, String detail, String theme, String assets) {}

  private final ServerConfig config;
  private final Sessions sessions;
  private final Assets assets;

  LoginPage(ServerConfig config, Sessions sessions, Assets assets) {
    this.config = config;
    this.sessions = sessions;
    this.assets = assets;
  }

  List<Route> routes() {
    return List.of(
        Route.open("/ui", "To the dashboard, or in with a token", this::enter).asPage(),
        Route.open("/ui/login", "The page to sign in on", this::show).asPage(),
        Route.openForm("/ui/login", "Signs in", this::login),
        Route.of(Route.Method.POST, "/ui/logout", Role.VIEWER, "Signs out", this::logout).asPage());
  }

  // The first start prints this address. The redirect removes the token from the address bar and
  // the history.
  private Answer enter(Request request) {
    Optional<String> token = request.query("token");
    // A link on another site's page could sign people in under somebody else's token.
    boolean isFromElsewhere =
        Optional.ofNullable(request.http().header("Sec-Fetch-Site"))
            .filter(site -> !site.equals("none") && !site.equals("same-origin"))
            .isPresent();
    if (isFromElsewhere && token.isPresent()) {
      return page(request.http(), 403, HOME, "Paste the token here: a link may be anybody's.");
    }
    // Addresses are recorded by proxies on their way, and without TLS they can be read there.
    if (token.isPresent() && !isPrivate(request.http().req())) {
      return page(
          request.http(),
          403,
          HOME,
          "Paste the token here: without TLS a link signs in on the server's own machine alone.");
    }
    if (token.isPresent() && config.trust().auth()) {
      return sessions
          .begin(token.get())
          .map(session -> begun(request, session, HOME))
          .orElseGet(
              () -> page(request.http(), 401, HOME, "This token is unknown, expired or revoked."));
    }
    return to(request, HOME);
  }

  // The address may come from a trusted proxy, and need not be numeric.
  private static boolean isPrivate(HttpServletRequest request) {
    return request.isSecure() || OWN_MACHINE.matcher(request.getRemoteAddr()).matches();
  }

  private Answer show(Request request) {
    return config.trust().auth() ? page(request.http(), 200, HOME, "") : to(request, HOME);
  }

  private Answer login(Request request) {
    String next = local(request.form("next").orElse(HOME));
    return request
        .form("token")
        .flatMap(sessions::begin)
        .map(session -> begun(request, session, next))
        .orElseGet(
            () -> page(request.http(), 401, next, "This token is unknown, expired or revoked."));
  }

  private static Answer begun(Request request, String session, String next) {
    Visit.of(request.http()).begin(session, (int) Sessions.LENGTH.toSeconds());
    return to(request, next);
  }

  private Answer logout(Request request) {
    Visit.of(request.http()).end().ifPresent(sessions::end);
    return to(request, "/ui/login");
  }

  /** The page for a refused or failed request; without a session, the page to sign in. */
  Answer problem(Context http, Refusal refusal) {
    if (refusal.status() == 401) {
      String query = http.queryString();
      String asked = http.method().name().equals("GET") ? http.path() : HOME;
      return page(http, 401, local(query == null ? asked : asked + "?" + query), "");
    }
    return Html.page(
        refusal.status(),
        "problem",
        new Problem(
            refusal.status(),
            Problems.title(refusal.status()),
            refusal.code(),
            refusal.detail(),
            Visit.of(http).theme(),
            assets.version()));
  }

  private Answer page(Context http, int status, String next, String problem) {
    Visit visit = Visit.of(http);
    return Html.page(
        status,
        "login",
        new View(visit.csrf(TenantName.DEFAULT), visit.theme(), next, problem, assets.version()));
  }

  static Answer to(Request request, String address) {
    request.http().res().setHeader("Location", address);
    return Answer.seeOther();
  }

  /** The given address if it is one of our pages, otherwise the start page. */
  static String local(String address) {
    boolean ours =
        address.matches("/ui/[\\x21-\\x7e]*") && !address.contains("\\") && !address.contains("//");
    return ours ? address : HOME;
  }
}
