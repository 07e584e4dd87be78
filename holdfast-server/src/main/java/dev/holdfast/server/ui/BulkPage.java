package dev.holdfast.server.ui;

import static dev.holdfast.server.http.Route.Method.POST;

import dev.holdfast.api.JobQuery;
import dev.holdfast.api.Json;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Limits;
import dev.holdfast.server.auth.Role;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Request;
import dev.holdfast.server.http.Route;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Pages for the same act on many jobs: the first shows what it would do, the second does it to
 * exactly the jobs that were shown, whatever else matches by then.
 */
final class BulkPage {

  static final List<String> ACTS =
      List.of("retry", "resume", "pause", "stop", "cancel", "requeue", "fail", "resolve");

  private static final String API = "POST /api/v1/jobs/actions";

  /** One of the jobs. */
  record One(String id, String state, String status) {}

  /** What the template shows. */
  record View(
      Frame frame,
      String action,
      boolean done,
      String reason,
      boolean force,
      List<One> jobs,
      Map<String, Long> outcomes,
      boolean more) {

    List<String> meant() {
      return jobs.stream().filter(job -> job.status().equals("would")).map(One::id).toList();
    }
  }

  private final Frames frames;
  private final Forms forms;

  BulkPage(Frames frames, Forms forms) {
    this.frames = frames;
    this.forms = forms;
  }

  List<Route> routes() {
    Set<String> fields = new HashSet<>(JobQuery.NAMES);
    fields.addAll(Set.of("action", "id", "reason", "force", "all"));
    return List.of(
        Route.of(
                POST,
                "/ui/bulk/preview",
                Role.OPERATOR,
                "What an act would do to many jobs",
                request -> act(request, true))
            .fields(fields)
            .asPage(),
        Route.of(POST, "/ui/bulk", Role.OPERATOR, "Does it to them", request -> act(request, false))
            .fields("action", "id", "reason", "force")
            .asPage());
  }

  private Answer act(Request request, boolean dryRun) throws Exception {
    ObjectNode body = Forms.body(request, Set.of("action", "reason", "force"));
    if (dryRun && request.form("all").isPresent()) {
      ObjectNode filter = body.putObject("filter");
      JobQuery.NAMES.forEach(
          name -> request.form(name).ifPresent(value -> filter.put(name, value)));
      body.put("limit", Limits.PAGE_ROWS);
    } else {
      List<String> ids = request.forms("id");
      if (ids.isEmpty()) {
        throw HoldfastException.invalid("id", "none", "at least one job, selected in the list");
      }
      ids.forEach(body.putArray("ids")::add);
    }
    body.put("dry_run", dryRun);
    Answer answer = request.ask(forms.api(API), Map.of(), body);
    return Html.page("bulk", view(request, body, Json.parse("answer", answer.body()), !dryRun));
  }

  private View view(Request request, ObjectNode asked, JsonNode answer, boolean done) {
    List<One> jobs = new ArrayList<>();
    Map<String, Long> outcomes = new TreeMap<>();
    answer
        .path("results")
        .forEach(result -> {
          String status = result.path("status").asString();
          outcomes.merge(status, 1L, Long::sum);
          jobs.add(
              new One(result.path("job_id").asString(), result.path("state").asString(), status));
        });
    return new View(
        frames.frame(request, "Act on jobs", "jobs"),
        asked.path("action").asString(),
        done,
        asked.path("reason").asString(""),
        asked.path("force").asBoolean(false),
        jobs,
        outcomes,
        answer.path("after").isString());
  }
}
