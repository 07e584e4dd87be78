package dev.holdfast.server.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.api.Fields;
import dev.holdfast.api.Json;
import dev.holdfast.audit.Act;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Limits;
import dev.holdfast.job.Needs;
import dev.holdfast.job.TraceContext;
import dev.holdfast.server.auth.Principal;
import dev.holdfast.server.auth.Role;
import dev.holdfast.server.tenancy.TenantServices;
import io.javalin.http.Context;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** What is asked, by whom and of which tenant, with everything read as what it must be. */
public final class Request {

  private static final int PAGE = 100;
  private static final Pattern HALF = Pattern.compile("(?i)\\\\ud[89a-f]");

  private static final Pattern CHARSET = Pattern.compile("(?i);\\s*charset=");
  private static final Pattern UTF8 = Pattern.compile("(?i);\\s*charset=\"?utf-?8\"?\\s*(;|$)");

  private final Route route;
  private final Context http;
  private final Principal principal;
  private final Supplier<TenantServices> services;
  private final BooleanSupplier known;
  private final Ending ending;
  private final Optional<Said> said;

  /** What another route is asked within the same request, in place of what the client sent. */
  private record Said(Map<String, String> named, ObjectNode body) {}

  Request(
      Route route,
      Context http,
      Principal principal,
      Supplier<TenantServices> services,
      BooleanSupplier known,
      Ending ending) {
    this(route, http, principal, services, known, ending, Optional.empty());
  }

  private Request(
      Route route,
      Context http,
      Principal principal,
      Supplier<TenantServices> services,
      BooleanSupplier known,
      Ending ending,
      Optional<Said> said) {
    this.known = known;
    this.ending = ending;
    this.route = route;
    this.http = http;
    this.principal = principal;
    this.services = services;
    this.said = said;
  }

  /**
   * Asks another route for the same person in the same tenant, as a page does for its forms.
   *
   * @param named the names in braces of its path
   */
  public Answer ask(Route other, Map<String, String> named, ObjectNode body) throws Exception {
    if (!mayDo(other.role().orElseThrow())) {
      throw Refusal.of(403, "FORBIDDEN", "this needs the role " + other.role().get().stored());
    }
    Said instead = new Said(Map.copyOf(named), body);
    return other
        .handler()
        .handle(new Request(other, http, principal, services, known, ending, Optional.of(instead)));
  }

  public Principal principal() {
    return principal;
  }

  /** The tenant that it is about. */
  public TenantServices services() {
    return services.get();
  }

  /** For answers that are more than a body. */
  public Context http() {
    return http;
  }

  /** Whether who asks would still be let in. */
  public boolean isStillAllowed() {
    return known.getAsBoolean();
  }

  /** Whether the node ends, and an answer that has no end of its own must come to one. */
  public boolean mustEnd() {
    return ending.hasBegun();
  }

  /** Waits for so long, or until it must end; false when it must. */
  public boolean pause(Duration length) throws InterruptedException {
    return ending.pause(length);
  }

  /** Whether nobody is there any more to read the answer. */
  public boolean isAbandoned() {
    return ClientConnection.isCut(http);
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
    return Limits.name(name, parameter(name));
  }

  /** A resource's name in the path. */
  public String resource(String name) {
    return Needs.resource(name, parameter(name));
  }

  public UUID id() {
    return id("id");
  }

  public UUID id(String name) {
    return Fields.uuid(name, parameter(name));
  }

  private String parameter(String name) {
    return said.map(instead -> instead.named().getOrDefault(name, ""))
        .orElseGet(() -> http.pathParam(name));
  }

  /** A field of the form that came with it, without what is around it. */
  public Optional<String> form(String name) {
    List<String> values = forms(name);
    if (values.size() > 1) {
      throw HoldfastException.invalid(name, values.size() + " times", "once");
    }
    return values.stream().findFirst();
  }

  /** All that a form says under one name; what was left empty is not said. */
  public List<String> forms(String name) {
    return http.formParams(name).stream()
        .map(value -> checked(name, value.strip()))
        .filter(value -> !value.isEmpty())
        .toList();
  }

  private static String checked(String name, String value) {
    if (value.indexOf('\0') >= 0 || !UTF_8.newEncoder().canEncode(value)) {
      throw HoldfastException.invalid(name, "text that cannot be kept", "whole characters, no NUL");
    }
    return value;
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

  /** The same in a list of resources. */
  public String afterResource() {
    return query("after").map(name -> Needs.resource("after", name)).orElse("");
  }

  /** The JSON object that came with it; an empty one where nothing did. */
  public Fields body() {
    return body(route.fields());
  }

  public Fields body(Set<String> known) {
    Fields body = Fields.of("body", json());
    return route.style() == Style.NATIVE ? body.only(known) : body;
  }

  /** The same, which may name what the path names: so that it can be put as it was got. */
  public Fields bodyOf(String parameter) {
    Fields body = body(with(route.fields(), parameter));
    String named = path(parameter);
    body.optionalText(parameter)
        .filter(said -> !said.equals(named))
        .ifPresent(said -> {
          throw HoldfastException.invalid(parameter, said, "what the path says, " + named);
        });
    return body;
  }

  private static Set<String> with(Set<String> fields, String one) {
    Set<String> all = new HashSet<>(fields);
    all.add(one);
    return all;
  }

  /** Whatever JSON came with it. */
  public JsonNode json() {
    if (said.isPresent()) {
      return said.get().body();
    }
    String text = text();
    JsonNode json = text.isBlank() ? Json.object() : Json.parse("body", text);
    // Half of a character, which only an escape can say: no text could keep it.
    if (HALF.matcher(text).find() && !UTF_8.newEncoder().canEncode(Json.write(json))) {
      throw HoldfastException.invalid("body", "half of a surrogate pair", "whole characters");
    }
    return json;
  }

  /** What came with it, letter by letter. */
  public String text() {
    String type = Optional.ofNullable(http.header("Content-Type")).orElse("");
    if (CHARSET.matcher(type).find() && !UTF8.matcher(type).find()) {
      throw Refusal.of(415, "NOT_JSON", "a body must be sent as UTF-8");
    }
    String encoding = Optional.ofNullable(http.header("Content-Encoding")).orElse("identity");
    if (!encoding.equalsIgnoreCase("identity")) {
      throw Refusal.of(415, "NOT_JSON", "a body must be sent as it is, not as " + encoding);
    }
    try {
      return UTF_8.newDecoder().decode(ByteBuffer.wrap(http.bodyAsBytes())).toString();
    } catch (CharacterCodingException e) {
      throw HoldfastException.invalid("body", "bytes that are not UTF-8", "UTF-8");
    }
  }

  /** The trace that it belongs to, where it says so. */
  public Optional<TraceContext> trace() {
    return TraceContext.ofHeaders(
        Optional.ofNullable(http.header("traceparent")),
        Optional.ofNullable(http.header("tracestate")));
  }

  /** Who acts, and why. */
  public Act act(Fields body) {
    Act act = act();
    Act because = body.optionalText("reason").map(act::because).orElse(act);
    return body.flag("force") ? because.withForce() : because;
  }

  public Act act() {
    return Act.by(principal.actor());
  }
}
