package dev.holdfast.server.api;

import static dev.holdfast.server.api.Routes.BASE;
import static dev.holdfast.server.http.Route.Method.GET;
import static dev.holdfast.server.http.Route.Method.POST;
import static dev.holdfast.server.http.Route.Method.PUT;

import dev.holdfast.api.Fields;
import dev.holdfast.api.Json;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.hold.ResourceState;
import dev.holdfast.hold.Resources.Summary;
import dev.holdfast.server.auth.Role;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Request;
import dev.holdfast.server.http.Route;
import java.util.List;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Resources: who has them, who waits for them, what is in the way. */
final class ResourceRoutes {

  List<Route> routes() {
    return List.of(
        Route.of(
                GET, BASE + "/resources", Role.VIEWER, "Lists resources that are known", this::list)
            .queries("limit", "after"),
        Route.of(
            GET,
            BASE + "/resources/{name}",
            Role.VIEWER,
            "Who holds a resource, blocks it and waits for it",
            this::get),
        Route.of(
                PUT,
                BASE + "/resources/{name}",
                Role.OPERATOR,
                "How many jobs may have a resource at once",
                this::put)
            .fields("capacity", "reason"),
        Route.of(
                POST,
                BASE + "/resources/{name}/release",
                Role.ADMIN,
                "Frees a resource of all but running work",
                this::release)
            .fields("reason"));
  }

  private Answer list(Request request) {
    int limit = request.limit();
    List<Summary> resources = request.services().resources().list(request.afterResource(), limit);
    ObjectNode json = Json.object();
    ArrayNode list = json.putArray("resources");
    resources.forEach(each ->
        list.addObject()
            .put("name", each.name())
            .put("capacity", each.capacity())
            .put("holders", each.holders())
            .put("blocks", each.blocks())
            .put("waiters", each.waiters()));
    json.put("after", resources.size() == limit ? resources.getLast().name() : null);
    return Answer.ok(json);
  }

  private Answer get(Request request) {
    return Answer.ok(json(request.services().resources().get(request.resource("name"))));
  }

  private Answer put(Request request) {
    Fields body = request.body();
    String name = request.resource("name");
    int capacity =
        body.optionalInt("capacity")
            .orElseThrow(() -> HoldfastException.invalid("capacity", "missing", "1 or more"));
    request.services().resources().setCapacity(name, capacity, request.act(body));
    return Answer.ok(json(request.services().resources().get(name)));
  }

  private Answer release(Request request) {
    Fields body = request.body();
    return Answer.ok(
        json(request.services().resources().release(request.resource("name"), request.act(body))));
  }

  private static ObjectNode json(ResourceState state) {
    ObjectNode json = Json.object();
    json.put("name", state.name());
    json.put("capacity", state.capacity());
    ArrayNode holders = json.putArray("holders");
    state
        .holders()
        .forEach(holder -> {
          ObjectNode each = holders.addObject();
          each.put("job_id", holder.jobId().toString());
          each.put("fence", holder.fence());
          Json.put(each, "since", holder.since());
          Json.put(each, "passes_at", holder.passesAt());
        });
    ArrayNode blocks = json.putArray("blocks");
    state
        .blocks()
        .forEach(block ->
            blocks
                .addObject()
                .put("job_id", block.jobId().toString())
                .put("reason", block.reason())
                .put("actor", block.actor())
                .put("since", block.since().toString()));
    ArrayNode waiters = json.putArray("waiters");
    state
        .waiters()
        .forEach(waiter ->
            waiters
                .addObject()
                .put("job_id", waiter.jobId().toString())
                .put("since", waiter.since().toString()));
    return json;
  }
}
