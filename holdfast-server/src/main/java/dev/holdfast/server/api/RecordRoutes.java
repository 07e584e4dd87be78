package dev.holdfast.server.api;

import static dev.holdfast.server.api.Routes.BASE;
import static dev.holdfast.server.http.Route.Method.GET;

import dev.holdfast.api.Json;
import dev.holdfast.audit.AuditRecord;
import dev.holdfast.invariant.Violation;
import dev.holdfast.server.auth.Role;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Request;
import dev.holdfast.server.http.Route;
import java.util.List;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Routes for the audit and the invariants. */
final class RecordRoutes {

  List<Route> routes() {
    return List.of(
        Route.of(GET, BASE + "/audit", Role.OPERATOR, "Who did what, newest first", this::audit)
            .queries("limit", "after"),
        Route.of(
            GET, BASE + "/invariants", Role.VIEWER, "What is not as it must be", this::invariants));
  }

  private Answer audit(Request request) {
    int limit = request.limit();
    List<AuditRecord> acts =
        request.services().audit().before(request.number("after").orElse(Long.MAX_VALUE), limit);
    ObjectNode json = Json.object();
    ArrayNode list = json.putArray("audit");
    acts.forEach(act -> list.add(json(act)));
    json.put("after", acts.size() == limit ? (Long) acts.getLast().id() : null);
    return Answer.ok(json);
  }

  private static ObjectNode json(AuditRecord act) {
    ObjectNode json = Json.object();
    json.put("id", act.id());
    Json.put(json, "at", act.at());
    json.put("actor", act.actor());
    json.put("act", act.act());
    Json.put(json, "job_id", act.jobId());
    Json.put(json, "resource", act.resource());
    Json.put(json, "before", act.before());
    Json.put(json, "after", act.after());
    Json.put(json, "reason", act.reason());
    return json;
  }

  private Answer invariants(Request request) {
    ObjectNode json = Json.object();
    ArrayNode list = json.putArray("violations");
    for (Violation violation : request.services().invariants().check()) {
      ObjectNode each = list.addObject();
      each.put("id", violation.id());
      Json.put(each, "job_id", violation.jobId());
      Json.put(each, "resource", violation.resource());
      each.put("detail", violation.detail());
    }
    return Answer.ok(json);
  }
}
