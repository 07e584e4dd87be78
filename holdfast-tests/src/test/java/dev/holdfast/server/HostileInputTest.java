package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.api.Json;
import dev.holdfast.server.Caller.Reply;
import dev.holdfast.server.auth.Role;
import dev.holdfast.server.http.Route;
import dev.holdfast.testkit.TestTenant;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Whatever is sent to whatever route: a clear refusal or a sound answer, and no trace of either.
 */
class HostileInputTest {

  private static final List<String> VALUES =
      List.of(
          "null",
          "true",
          "-1",
          "0",
          "1e400",
          "7e77777777777777777",
          "99999999999999999999999999",
          "0.0000001",
          "\"\"",
          "\"\\u0000\"",
          "\"\\ud800\"",
          "\"a\\nb\"",
          "\"'; DROP TABLE job; --\"",
          "\"../../etc/passwd\"",
          "\"" + "x".repeat(300) + "\"",
          "[]",
          "[null]",
          "[[[[[[]]]]]]",
          "{}",
          "{\"\": {}}",
          "[{\"job_id\": 1}]",
          "{\"type\": \"none\", \"x\": 1}");

  // How a route says that it has stored a job.
  private static final Map<String, Integer> ENQUEUED =
      Map.of(
          "POST /api/v1/jobs", 201,
          "POST /targets/{target_id}/jobs", 200,
          "POST /targets/{target_id}/jobs/", 200,
          "POST /run-simulation", 200);

  private static final String ID = "00000000-0000-4000-8000-000000000000";

  private static final List<String> BODIES =
      List.of("", "null", "[]", "\"x\"", "{", "{\"a\":1,\"a\":2}", "{} {}", "[".repeat(5_000));

  private static final List<String> TEXTS =
      List.of(
          "%00",
          "..%2f..%2fetc",
          "%ff%fe",
          "-1",
          "9999999999999999999999",
          "%27%3b--",
          "null",
          "x".repeat(300),
          "%0d%0aX-Evil:1",
          "2026-13-45T99:99:99Z",
          "+999999999-01-01T00:00:00Z");

  @RegisterExtension final TestTenant tenant = new TestTenant();

  @Timeout(300)
  @Test
  void no_route_fails_and_nothing_that_was_refused_is_stored() {
    Caller system = TestServer.shared().as(Role.SYSTEM, tenant.name());
    List<String> wrong = new ArrayList<>();
    int asked = 0;
    int accepted = 0;
    for (Route route : TestServer.shared().server().routes()) {
      if (route.path().endsWith("/events")) {
        continue; // it answers for as long as one listens
      }
      for (Reply reply : replies(system, route)) {
        asked++;
        if (ENQUEUED.getOrDefault(route.toString(), 0) == reply.status()) {
          accepted++; // "'; DROP TABLE job; --" is a name like any other
        }
        if (reply.status() >= 500
            || reply.text().contains("Exception")
            || reply.text().contains("at dev.holdfast")) {
          wrong.add(route + " answers " + reply.status() + ": " + reply.text());
        }
      }
    }

    assertThat(wrong).isEmpty();
    assertThat(asked).isGreaterThan(1_000);
    assertThat(tenant.query("SELECT kind, args FROM {schema}.job_all")).hasSize(accepted);
    assertThat(tenant.invariants().check()).isEmpty();
  }

  private List<Reply> replies(Caller caller, Route route) {
    List<Reply> replies = new ArrayList<>();
    String method = route.method().name();
    if (route.isPage() && route.method() == Route.Method.POST) {
      replies.addAll(forms(caller, route));
      return replies;
    }
    if (route.path().startsWith("/t/")) { // the same handler as without it, found by another way
      for (String text : TEXTS) {
        replies.add(
            caller.send(
                method,
                fill(route.at(route.path().replace("{tenant}", text)), ID, "name"),
                route.fields().isEmpty() ? Optional.empty() : Optional.of("{}")));
      }
      return replies;
    }
    String path = fill(route, ID, "name");
    if (!route.fields().isEmpty()) {
      BODIES.forEach(body -> replies.add(caller.send(method, path, Optional.of(body))));
      for (String field : route.fields()) {
        for (String value : VALUES) {
          String body = "{\"%s\": %s}".formatted(field, value);
          replies.add(caller.send(method, path, Optional.of(body)));
          // With what else it needs, so that the value itself is looked at.
          replies.add(caller.send(method, path, Optional.of(amid(route, field, value))));
        }
      }
    }
    for (String query : route.queries()) {
      TEXTS.forEach(text ->
          replies.add(caller.send(method, path + "?" + query + "=" + text, Optional.empty())));
    }
    for (String text : TEXTS) {
      if (!route.parameters().isEmpty()) {
        replies.add(
            caller.send(
                method,
                fill(route, text, text),
                route.fields().isEmpty() ? Optional.empty() : Optional.of("{}")));
      }
    }
    return replies;
  }

  // Each field alone, and beside an id that there is not: enough to be looked at, and too little to
  // be stored. A tenant's name would be enough.
  private static List<Reply> forms(Caller caller, Route route) {
    List<Reply> replies = new ArrayList<>();
    for (String body :
        List.of("", "&&&", "%", "%zz=1", "=", "a=b=c", "_csrf=", "x".repeat(5_000))) {
      replies.add(caller.form(route.path(), body));
    }
    replies.add(caller.send("POST", route.path(), Optional.of("{}")));
    for (String field : route.fields()) {
      for (String text : TEXTS) {
        if (route.path().equals("/ui/do/tenant") && text.matches("[a-z]+")) {
          continue;
        }
        replies.add(caller.form(route.path(), field + "=" + text));
        replies.add(caller.form(route.path(), field + "=" + text + "&" + field + "=" + text));
        if (!route.parameters().isEmpty() || route.fields().contains("id")) {
          replies.add(caller.form(route.path(), "id=" + ID + "&" + field + "=" + text));
        }
      }
    }
    return replies;
  }

  private String fill(Route route, String id, String name) {
    return route
        .path()
        .replace("{tenant}", tenant.name().value())
        .replaceAll("\\{(\\w+_)?id}", Matcher.quoteReplacement(id))
        .replace("{name}", name)
        .replace("{type}", name);
  }

  // Not enough to be stored: a job without its kind, a token for a role that is not there.
  private static String amid(Route route, String field, String value) {
    StringBuilder body = new StringBuilder("{");
    for (String other : Set.of("worker", "fence", "reason", "url")) {
      if (route.fields().contains(other) && !other.equals(field)) {
        body.append("\"%s\": %s, ".formatted(other, other.equals("fence") ? "1" : "\"w\""));
      }
    }
    return body.append("\"%s\": %s}".formatted(field, value)).toString();
  }

  @Test
  void a_body_that_is_too_large_is_refused() {
    Caller admin = TestServer.shared().as(Role.ADMIN, tenant.name());
    String args = "\"" + "x".repeat(300_000) + "\"";

    Reply tooLarge = admin.post("/api/v1/jobs", "{\"kind\": \"a\", \"args\": %s}".formatted(args));
    Reply farTooLarge =
        admin.post(
            "/api/v1/jobs",
            "{\"kind\": \"a\", \"args\": %s}".formatted("\"" + "x".repeat(17 << 20) + "\""));

    assertThat(tooLarge.status()).isEqualTo(400);
    assertThat(tooLarge.json().path("detail").asString()).contains("262144");
    assertThat(farTooLarge.status()).isEqualTo(413);
    assertThat(tenant.query("SELECT id FROM {schema}.job")).isEmpty();
  }

  @Test
  void what_is_not_utf_8_is_refused() throws Exception {
    Caller admin = TestServer.shared().as(Role.ADMIN, tenant.name());

    assertThat(raw(admin, bytes("{\"kind\": \"a\u00ff\"}"), 0, "application/json"))
        .contains(" 400 ", "UTF-8");
    assertThat(raw(admin, bytes("{\"kind\": \"a\"}"), 0, "application/json; charset=nonsense"))
        .contains(" 415 ", "NOT_JSON");
    assertThat(admin.post("/api/v1/jobs", "{\"kind\": \"a\", \"args\": \"\\ud800\"}").status())
        .isEqualTo(400);
    assertThat(tenant.query("SELECT id FROM {schema}.job")).isEmpty();
    assertThat(
            admin.post("/api/v1/jobs", "{\"kind\": \"a\", \"args\": \"\\ud83d\\ude00\"}").status())
        .isEqualTo(201);
  }

  @Test
  void a_request_that_ends_before_its_end_is_not_taken_for_done() throws Exception {
    Caller admin = TestServer.shared().as(Role.ADMIN, tenant.name());

    assertThat(raw(admin, bytes("{\"kind\": \"a\"}"), 60, "application/json")).contains(" 400 ");
    assertThat(tenant.query("SELECT id FROM {schema}.job")).isEmpty();
  }

  private static byte[] bytes(String latin) {
    return latin.getBytes(StandardCharsets.ISO_8859_1);
  }

  private static String raw(Caller caller, byte[] body, int more, String type) throws Exception {
    try (RawHttp line = RawHttp.to(caller)) {
      line.post("/api/v1/jobs", body, body.length + more, type);
      line.end();
      return line.answer();
    }
  }

  @Test
  void what_is_asked_for_with_a_typo_is_not_taken_for_everything() {
    Caller admin = TestServer.shared().as(Role.ADMIN, tenant.name());

    assertThat(admin.get("/api/v1/jobs?tagg=x").status()).isEqualTo(400);
    assertThat(admin.get("/api/v1/jobs?tagg=x").json().path("detail").asString())
        .contains("tagg", "tag");
  }

  @Test
  void a_job_cannot_be_put_off_to_a_time_that_there_is_not() {
    Caller admin = TestServer.shared().as(Role.ADMIN, tenant.name());
    String id = admin.post("/api/v1/jobs", "{\"kind\": \"a\"}").json().path("id").asString();

    for (String moment : List.of("-5000-01-01T00:00:00Z", "+290000-01-01T00:00:00Z")) {
      Reply reply =
          admin.send(
              "PATCH", "/api/v1/jobs/" + id, Optional.of("{\"run_at\": \"%s\"}".formatted(moment)));
      assertThat(reply.status()).as(moment).isEqualTo(400);
      assertThat(reply.text()).contains("run_at").doesNotContain("ERROR");
    }
  }

  @Test
  void an_unknown_path_or_method_is_a_problem_too() {
    Caller admin = TestServer.shared().as(Role.ADMIN, tenant.name());

    assertThat(admin.get("/api/v1/nothing").status()).isEqualTo(404);
    assertThat(admin.get("/api/v1/nothing").code()).isEqualTo("NO_SUCH_PATH");
    assertThat(admin.send("PUT", "/api/v1/jobs", Optional.of("{}")).status()).isEqualTo(405);
    assertThat(admin.get("/api/v1/jobs/").status()).isEqualTo(404);
    assertThat(
            admin
                .get("/api/v1/jobs?error=" + URLEncoder.encode("%_'", StandardCharsets.UTF_8))
                .status())
        .isEqualTo(200);
    assertThat(Json.write(Json.object())).isEqualTo("{}");
  }
}
