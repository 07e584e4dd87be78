package dev.holdfast.server.ui;

import dev.holdfast.api.Json;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Request;
import dev.holdfast.server.http.Route;
import dev.holdfast.server.http.Visit;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import tools.jackson.databind.node.ObjectNode;

/**
 * The forms of the pages. Each form is one row here and calls the API's own route, so that
 * permissions, refusals and records are the same, and are written once.
 */
final class Forms {

  /** The field with the page to show after the form is done. */
  private static final String BACK = "_back";

  private static final Set<String> NUMBERS =
      Set.of(
          "priority",
          "concurrency_limit",
          "capacity",
          "every_seconds",
          "misfire_grace_seconds",
          "max_instances",
          "expected_runtime_seconds",
          "max_attempts",
          "timeout_seconds",
          "lease_seconds",
          "value");

  private static final Set<String> FLAGS = Set.of("force", "paused", "coalesce", "enabled");
  private static final Set<String> LISTS = Set.of("tags", "resources", "events");
  private static final Set<String> JSONS = Set.of("args", "result", "retry", "dst");

  // An empty field clears the value; other empty fields leave it unchanged.
  private static final Set<String> CLEARED = Set.of("concurrency_limit", "tags");

  private final Map<String, Route> api = new HashMap<>();

  Forms(List<Route> routes) {
    routes.forEach(route -> api.put(route.toString(), route));
  }

  List<Route> routes() {
    List<Route> forms = new ArrayList<>();
    for (String act :
        List.of("cancel", "stop", "pause", "resume", "retry", "requeue", "fail", "resolve")) {
      forms.add(form("job-" + act, "POST /api/v1/jobs/{id}/" + act, "Done: " + act + "."));
    }
    forms.add(form("job-change", "PATCH /api/v1/jobs/{id}", "The job was changed."));
    forms.add(form("job-delete", "DELETE /api/v1/jobs/{id}", "The job was deleted."));
    forms.add(form("queue", "PUT /api/v1/queues/{name}", "The queue was changed."));
    forms.add(form("resource", "PUT /api/v1/resources/{name}", "The capacity was changed."));
    forms.add(
        form("resource-release", "POST /api/v1/resources/{name}/release", "It was released."));
    forms.add(form("schedule", "PUT /api/v1/schedules/{name}", "The schedule was saved."));
    forms.add(form("schedule-delete", "DELETE /api/v1/schedules/{name}", "It was deleted."));
    forms.add(form("schedule-enable", "POST /api/v1/schedules/{name}/enable", "It is enabled."));
    forms.add(form("schedule-disable", "POST /api/v1/schedules/{name}/disable", "It is disabled."));
    forms.add(
        form("schedule-trigger", "POST /api/v1/schedules/{name}/trigger", "It was triggered."));
    forms.add(form("worker-drain", "POST /api/v1/workers/{name}/drain", "It takes nothing more."));
    forms.add(form("worker-resume", "POST /api/v1/workers/{name}/resume", "It takes jobs again."));
    forms.add(form("tenant", "POST /api/v1/tenants", "The tenant is there."));
    forms.add(form("tenant-drop", "DELETE /api/v1/tenants/{name}", "The tenant is gone."));
    forms.add(form("token-revoke", "DELETE /api/v1/tokens/{id}", "The token was revoked."));
    forms.add(form("setting", "PUT /api/v1/settings/{name}", "The setting is in force."));
    forms.add(form("webhook", "PUT /api/v1/webhooks/{name}", "The webhook was saved."));
    forms.add(form("webhook-delete", "DELETE /api/v1/webhooks/{name}", "The webhook is gone."));
    return forms;
  }

  /** The API's route that a page calls. */
  Route api(String line) {
    return Optional.ofNullable(api.get(line))
        .orElseThrow(() -> new IllegalStateException("no route " + line));
  }

  private Route form(String name, String line, String done) {
    Route asked = api(line);
    Set<String> fields = new HashSet<>(asked.fields());
    fields.addAll(asked.parameters());
    return Route.of(
            Route.Method.POST,
            "/ui/do/" + name,
            asked.role().orElseThrow(),
            asked.summary(),
            request -> perform(request, asked, done))
        .fields(fields)
        .asPage();
  }

  private static Answer perform(Request request, Route asked, String done) throws Exception {
    Answer unused = request.ask(asked, named(request, asked), body(request, asked.fields()));
    Visit.of(request.http()).say(done);
    return LoginPage.to(request, LoginPage.local(request.form(BACK).orElse(LoginPage.HOME)));
  }

  private static Map<String, String> named(Request request, Route asked) {
    Map<String, String> named = new HashMap<>();
    asked.parameters().forEach(name -> named.put(name, request.form(name).orElse("")));
    return named;
  }

  /** The fields of a form as the JSON that the API takes. Empty fields are left out. */
  static ObjectNode body(Request request, Set<String> fields) {
    ObjectNode body = Json.object();
    for (String field : fields) {
      List<String> values = request.forms(field);
      if (values.isEmpty()) {
        if (CLEARED.contains(field) && request.http().formParam(field) != null) {
          clear(body, field);
        }
      } else if (LISTS.contains(field)) {
        values.stream()
            .flatMap(value -> Arrays.stream(value.split("[,\\n]", -1)))
            .map(String::strip)
            .filter(value -> !value.isEmpty())
            .forEach(body.withArray(field)::add);
      } else {
        put(body, field, request.form(field).orElseThrow());
      }
    }
    return body;
  }

  private static void clear(ObjectNode body, String field) {
    if (LISTS.contains(field)) {
      body.putArray(field);
    } else {
      body.putNull(field);
    }
  }

  private static void put(ObjectNode body, String field, String value) {
    if (NUMBERS.contains(field)) {
      putNumber(body, field, value);
    } else if (FLAGS.contains(field)) {
      body.put(field, flag(field, value));
    } else if (JSONS.contains(field)) {
      body.set(field, Json.parse(field, value));
    } else {
      body.put(field, value);
    }
  }

  private static void putNumber(ObjectNode body, String field, String value) {
    if (value.equals("null")) {
      body.putNull(field); // an explicit null means no limit
    } else if (value.matches("-?\\d{1,18}")) {
      body.put(field, Long.parseLong(value));
    } else if (value.matches("-?\\d{1,18}\\.\\d{1,9}")) {
      body.put(field, new BigDecimal(value));
    } else {
      throw HoldfastException.invalid(field, value, "a number");
    }
  }

  private static boolean flag(String field, String value) {
    return switch (value) {
      case "true", "on" -> true;
      case "false" -> false;
      default -> throw HoldfastException.invalid(field, value, "true or false");
    };
  }
}
