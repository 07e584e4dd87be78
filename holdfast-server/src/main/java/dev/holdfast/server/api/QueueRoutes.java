package dev.holdfast.server.api;

import static dev.holdfast.server.api.Routes.BASE;
import static dev.holdfast.server.http.Route.Method.GET;
import static dev.holdfast.server.http.Route.Method.PUT;

import dev.holdfast.api.Fields;
import dev.holdfast.api.Json;
import dev.holdfast.codec.PolicyJson;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.queue.QueueSettings;
import dev.holdfast.queue.QueueState;
import dev.holdfast.server.auth.Role;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Request;
import dev.holdfast.server.http.Route;
import dev.holdfast.server.tenancy.Setting;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Queues: how they treat their jobs, and how many there are. */
final class QueueRoutes {

  private static final PolicyJson POLICIES = new PolicyJson();

  List<Route> routes() {
    return List.of(
        Route.of(GET, BASE + "/queues", Role.VIEWER, "Lists queues", this::list)
            .queries("limit", "after"),
        Route.of(GET, BASE + "/queues/{name}", Role.VIEWER, "A queue", this::get),
        Route.of(
                PUT,
                BASE + "/queues/{name}",
                Role.OPERATOR,
                "Pauses a queue, limits it, or gives its jobs defaults; what is left out stays. "
                    + "In the queues of the dialects (targets, agents, pull) this holds for each "
                    + "default; in others, new defaults replace all old ones",
                this::put)
            .fields("paused", "concurrency_limit", "defaults"));
  }

  private Answer list(Request request) {
    int limit = request.limit();
    List<QueueState> queues = request.services().queues().list(request.after(), limit);
    ObjectNode json = Json.object();
    ArrayNode list = json.putArray("queues");
    queues.forEach(queue ->
        list.add(
            json(queue.name(), queue.settings())
                .put("queued", queue.queued())
                .put("running", queue.running())));
    json.put("after", queues.size() == limit ? queues.getLast().name() : null);
    return Answer.ok(json);
  }

  private Answer get(Request request) {
    String name = request.path("name");
    return Answer.ok(json(name, request.services().queues().get(name)));
  }

  private Answer put(Request request) {
    String name = request.path("name");
    if (Reserved.is(name)) { // whoever pauses it silences the webhooks that admins made
      request.require(Role.ADMIN, "a queue of the server's own");
    }
    Fields body = request.bodyOf("name");
    return Answer.ok(
        json(
            name,
            request
                .services()
                .queues()
                .change(name, before -> merged(name, before, body), request.act())));
  }

  private static QueueSettings merged(String name, QueueSettings before, Fields body) {
    return new QueueSettings(
        body.optionalBoolean("paused").orElse(before.paused()),
        body.says("concurrency_limit")
            ? body.optionalInt("concurrency_limit")
            : before.concurrencyLimit(),
        body.any("defaults")
            .map(said ->
                Setting.areKeptIn(name)
                    ? laidOver(before.defaults(), said)
                    : POLICIES.read(Json.write(said)))
            .orElse(before.defaults()));
  }

  // The settings of the tenant and the rules of the dialect are defaults of such a queue. A request
  // that changes one of them must not remove the others.
  private static PolicyOverrides laidOver(PolicyOverrides before, JsonNode said) {
    return POLICIES.read(Json.write(withOldRetry(before, said))).over(before);
  }

  // Each part of a backoff is a setting of its own, so each part that is left out stays.
  private static JsonNode withOldRetry(PolicyOverrides before, JsonNode said) {
    if (said instanceof ObjectNode defaults
        && defaults.path("retry") instanceof ObjectNode retry
        && Json.parse("defaults", POLICIES.write(before)).path("retry") instanceof ObjectNode old
        && old.path("type").equals(retry.path("type"))) {
      old.setAll(retry);
      ObjectNode filled = defaults.deepCopy();
      filled.set("retry", old);
      return filled;
    }
    return said;
  }

  private static ObjectNode json(String name, QueueSettings settings) {
    ObjectNode json = Json.object();
    json.put("name", name);
    json.put("paused", settings.paused());
    json.put("concurrency_limit", settings.concurrencyLimit().orElse(null));
    json.set("defaults", Json.parse("defaults", POLICIES.write(settings.defaults())));
    return json;
  }
}
