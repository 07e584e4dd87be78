package dev.holdfast.server.ui;

import static dev.holdfast.server.http.Route.Method.GET;
import static dev.holdfast.server.http.Route.Method.POST;

import dev.holdfast.api.Fields;
import dev.holdfast.api.Json;
import dev.holdfast.server.auth.Role;
import dev.holdfast.server.auth.Token;
import dev.holdfast.server.auth.Tokens;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Request;
import dev.holdfast.server.http.Route;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The page with the tokens. A new token is shown once, on the page that answers. */
final class TokensPage {

  private static final int ROWS = 100;
  private static final Set<String> FIELDS = Set.of("name", "role", "expires_at");

  /** What the template shows. */
  record View(Frame frame, List<Token> tokens, List<String> roles, String made, String nextHref) {}

  private final Frames frames;
  private final Tokens tokens;
  private final Forms forms;

  TokensPage(Frames frames, Tokens tokens, Forms forms) {
    this.frames = frames;
    this.tokens = tokens;
    this.forms = forms;
  }

  List<Route> routes() {
    return List.of(
        Route.of(GET, "/ui/tokens", Role.ADMIN, "Tokens", request -> show(request, ""))
            .queries("after")
            .asPage(),
        Route.of(POST, "/ui/tokens", Role.ADMIN, "Makes a token; shown once", this::make)
            .fields(FIELDS)
            .asPage());
  }

  private Answer make(Request request) throws Exception {
    Answer made =
        request.ask(forms.api("POST /api/v1/tokens"), Map.of(), Forms.body(request, FIELDS));
    return show(request, Json.parse("answer", made.body()).path("token").asString());
  }

  private Answer show(Request request, String made) {
    List<Token> page =
        tokens.list(
            request.services().tenant().name(),
            request.mayDo(Role.SYSTEM),
            request.query("after").map(id -> Fields.uuid("after", id)),
            ROWS);
    List<String> roles =
        Arrays.stream(Role.values())
            .filter(role -> role != Role.SYSTEM || request.mayDo(Role.SYSTEM))
            .map(Role::stored)
            .toList();
    return Html.page(
        "tokens",
        new View(
            frames.frame(request, "Tokens", "tokens"),
            page,
            roles,
            made,
            page.size() == ROWS ? "/ui/tokens?after=" + page.getLast().id() : ""));
  }
}
