package dev.holdfast.server.http;

import dev.holdfast.api.Fields;
import dev.holdfast.api.Json;
import dev.holdfast.audit.Act;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Limits;
import dev.holdfast.server.auth.Principal;
import dev.holdfast.server.auth.Role;
import dev.holdfast.server.tenancy.Desk;
import io.javalin.http.Context;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Supplier;

/** What is asked, by whom and of which tenant, with everything read as what it must be. */
public final class Request {

  private static final int PAGE = 100;

  private final Route route;
  private final Context http;
  private final Principal principal;
  private final Supplier<Desk> desk;

  Request(Route route, Context http, Principal principal, Supplier<Desk> desk) {
    this.route = route;
    this.http = http;
    this.principal = principal;
    this.desk = desk;
  }

  public Principal principal() {
    return principal;
  }

  /** The tenant that it is about. */
  public Desk desk() {
    return desk.get();
  }

  /** For answers that are more than a body. */
  public Context http() {
    return http;
  }

  public boolean mayDo(Role role) {
    return principal.role().mayDo(role);
  }

  /** Refuses whoever may not, where that is not for the route alone to say. */
  public void require(Role role, String what) {
    if (!mayDo(role)) {
      throw Refusal.of(403, "FORBIDDEN", what + " needs the role " + role.stored());
    }
  }

  public String path(String name) {
    return Limits.name(name, http.pathParam(name));
  }

  public UUID id() {
    return Fields.uuid("id", http.pathParam("id"));
  }

  public Optional<String> query(String name) {
    List<String> values = http.queryParams(name);
    if (values.size() > 1) {
      throw HoldfastException.invalid(name, values, "once");
    }
    return values.stream().findFirst().filter(value -> !value.isEmpty());
  }

  public Optional<Long> number(String name) {
    return query(name)
        .map(text -> {
          try {
            return Long.valueOf(text);
          } catch (NumberFormatException e) {
            throw HoldfastException.invalid(name, text, "a whole number");
          }
        });
  }

  public boolean flag(String name) {
    return query(name)
        .map(text ->
            switch (text) {
              case "true", "1" -> true;
              case "false", "0" -> false;
              default -> throw HoldfastException.invalid(name, text, "true or false");
            })
        .orElse(false);
  }

  public Optional<Instant> instant(String name) {
    return query(name).map(text -> Fields.instant(name, text));
  }

  /** How many are asked for at once. */
  public int limit() {
    long limit = number("limit").orElse((long) PAGE);
    return Limits.page("limit", Math.clamp(limit, -1, Integer.MAX_VALUE));
  }

  /** Where the page before ended, by name. */
  public String after() {
    return query("after").map(name -> Limits.name("after", name)).orElse("");
  }

  /** The JSON object that came with it; an empty one where nothing did. */
  public Fields body() {
    return body(route.fields());
  }

  public Fields body(Set<String> known) {
    String text = text();
    return Fields.of("body", text.isBlank() ? Json.object() : Json.parse("body", text)).only(known);
  }

  /** What came with it, letter by letter. */
  public String text() {
    return http.body();
  }

  /** Who acts, and why. */
  public Act act(Fields body) {
    Act act = Act.by(principal.name());
    Act because = body.optionalText("reason").map(act::because).orElse(act);
    return body.flag("force") ? because.withForce() : because;
  }

  public Act act() {
    return Act.by(principal.name());
  }
}
