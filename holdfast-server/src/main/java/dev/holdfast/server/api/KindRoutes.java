package dev.holdfast.server.api;

import static dev.holdfast.server.api.Routes.BASE;
import static dev.holdfast.server.http.Route.Method.DELETE;
import static dev.holdfast.server.http.Route.Method.GET;
import static dev.holdfast.server.http.Route.Method.PUT;

import dev.holdfast.api.Fields;
import dev.holdfast.api.Json;
import dev.holdfast.api.MaskedArgs;
import dev.holdfast.codec.PolicyJson;
import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.executor.JobExecutors;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.server.auth.Role;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Request;
import dev.holdfast.server.http.Route;
import dev.holdfast.server.tenancy.KindInfo;
import dev.holdfast.server.tenancy.KindSettings;
import dev.holdfast.server.tenancy.Node;
import java.util.List;
import java.util.Optional;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Routes for kinds and nodes. */
final class KindRoutes {

  private static final PolicyJson POLICIES = new PolicyJson();

  List<Route> routes() {
    return List.of(
        Route.of(GET, BASE + "/kinds", Role.VIEWER, "Lists registered kinds", this::kinds)
            .queries("limit", "after"),
        Route.of(GET, BASE + "/kinds/{name}", Role.VIEWER, "A kind", this::kind),
        Route.of(PUT, BASE + "/kinds/{name}", Role.SYSTEM, "Registers a kind", this::putKind)
            .fields(
                "executor", "playbook", "node_targeted", "subject_during", "defaults", "settings"),
        Route.of(GET, BASE + "/nodes", Role.OPERATOR, "Lists nodes", this::nodes)
            .queries("limit", "after"),
        Route.of(GET, BASE + "/nodes/{id}", Role.OPERATOR, "A node", this::node),
        Route.of(PUT, BASE + "/nodes/{id}", Role.SYSTEM, "Registers a node", this::putNode)
            .fields("host", "port", "user", "key_file", "connection"),
        Route.of(DELETE, BASE + "/nodes/{id}", Role.SYSTEM, "Removes a node", this::deleteNode));
  }

  private Answer kinds(Request request) {
    int limit = request.limit();
    List<KindInfo> kinds = request.services().kinds().list(request.after(), limit);
    ObjectNode json = Json.object();
    ArrayNode list = json.putArray("kinds");
    kinds.forEach(kind -> list.add(json(request, kind)));
    json.put("after", kinds.size() == limit ? kinds.getLast().name() : null);
    return Answer.ok(json);
  }

  private Answer kind(Request request) {
    String name = request.path("name");
    return Answer.ok(
        json(
            request,
            request
                .services()
                .kinds()
                .find(name)
                .orElseThrow(() -> new HoldfastException(ErrorCode.NOT_FOUND, "no kind " + name))));
  }

  private Answer putKind(Request request) {
    Fields body = request.bodyOf("name");
    String name = request.path("name");
    if (JobExecutors.NAMES.contains(name)) {
      throw HoldfastException.invalid("name", name, "another: an executor has it");
    }
    Optional<String> executor = body.optionalText("executor");
    KindInfo kind =
        new KindInfo(
            name,
            executor,
            body.optionalText("playbook"),
            body.flag("node_targeted"),
            body.optionalText("subject_during"),
            body.any("defaults")
                .map((JsonNode json) -> POLICIES.read(Json.write(json)))
                .orElse(PolicyOverrides.NONE),
            body.optionalObject("settings")
                .map(settings ->
                    new KindSettings(
                        executor.orElseThrow(() -> body.missing("executor", "one, for settings")),
                        restored(request, name, settings.json()))));
    request.services().kinds().put(kind, request.act());
    return Answer.ok(json(request, kind));
  }

  // Settings that are put as they were read have masks in place of secrets.
  private static ObjectNode restored(Request request, String name, ObjectNode said) {
    return request
        .services()
        .kinds()
        .find(name)
        .flatMap(KindInfo::settings)
        .map(before -> MaskedArgs.restored(said, before.fixed()))
        .orElse(said);
  }

  // Settings are shown like arguments, because they become arguments.
  private static ObjectNode json(Request request, KindInfo kind) {
    boolean mayKnow = request.mayDo(Role.SUBMITTER) || request.mayDo(Role.WORKER);
    ObjectNode json = Json.object();
    json.put("name", kind.name());
    Json.put(json, "executor", kind.executor());
    Json.put(json, "playbook", kind.playbook());
    json.put("node_targeted", kind.nodeTargeted());
    Json.put(json, "subject_during", kind.subjectDuring());
    json.set("defaults", Json.parse("defaults", POLICIES.write(kind.defaults())));
    if (mayKnow) {
      kind.settings()
          .ifPresentOrElse(
              settings -> json.set("settings", settings.shown()), () -> json.putNull("settings"));
    }
    return json;
  }

  private Answer nodes(Request request) {
    int limit = request.limit();
    List<Node> nodes = request.services().nodes().list(request.after(), limit);
    ObjectNode json = Json.object();
    ArrayNode list = json.putArray("nodes");
    nodes.forEach(node -> list.add(json(node)));
    json.put("after", nodes.size() == limit ? nodes.getLast().id() : null);
    return Answer.ok(json);
  }

  private Answer node(Request request) {
    String id = request.path("id");
    return Answer.ok(
        json(
            request
                .services()
                .nodes()
                .find(id)
                .orElseThrow(() -> new HoldfastException(ErrorCode.NOT_FOUND, "no node " + id))));
  }

  private Answer putNode(Request request) {
    Fields body = request.bodyOf("id");
    Node node =
        new Node(
            request.path("id"),
            body.text("host"),
            body.optionalInt("port"),
            body.optionalText("user"),
            body.optionalText("key_file"),
            body.optionalText("connection"));
    request.services().nodes().put(node, request.act());
    return Answer.ok(json(node));
  }

  private Answer deleteNode(Request request) {
    request.services().nodes().delete(request.path("id"), request.act());
    return Answer.done();
  }

  private static ObjectNode json(Node node) {
    return RunbookJson.node(node.address());
  }
}
