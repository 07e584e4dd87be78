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

/** Signing in with a token, out again, and what is said when something goes wrong. */
final class LoginPage {

  static final String HOME = "/ui/overview";

  private static final Pattern OWN_MACHINE =
      Pattern.compile("127(\\.\\d{1,3}){3}|\\[?(::1|0:0:0:0:0:0:0:1)]?");

  /** What the template shows. */
  record View(String csrf, String theme, String next, String problem, String assets) {}

  /** What the page for a problem shows. */
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

  // The address that the first start prints. The token leaves the address bar, and history, with
  // the answer.
  private Answer enter(Request request) {
    Optional<String> token = request.query("token");
    // A link on somebody else's page would sign people in as somebody whom they do not know.
    boolean isFromElsewhere =
        Optional.ofNullable(request.http().header("Sec-Fetch-Site"))
            .filter(site -> !site.equals("none") && !site.equals("same-origin"))
            .isPresent();
    if (isFromElsewhere && token.isPresent()) {
      return page(request.http(), 403, HOME, "Paste the token here: a link may be anybody's.");
    }
    // Addresses are kept by whatever they pass on their way, and without TLS they can be read
    // there.
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

  // A proxy's word counts, which need not be an address.
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

  /** Instead of a page that somebody may not see, or that went wrong. */
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

  /** An address of ours, whatever was asked for. */
  static String local(String address) {
    boolean ours =
        address.matches("/ui/[\\x21-\\x7e]*") && !address.contains("\\") && !address.contains("//");
    return ours ? address : HOME;
  }
}
