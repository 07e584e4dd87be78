package dev.holdfast.server.api;

import static dev.holdfast.server.api.Routes.BASE;
import static dev.holdfast.server.http.Route.Method.DELETE;
import static dev.holdfast.server.http.Route.Method.GET;
import static dev.holdfast.server.http.Route.Method.PUT;

import dev.holdfast.api.Fields;
import dev.holdfast.api.Json;
import dev.holdfast.api.MaskedArgs;
import dev.holdfast.audit.AuditRecord;
import dev.holdfast.codec.PolicyJson;
import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.executor.JobExecutors;
import dev.holdfast.invariant.Violation;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.server.auth.Role;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Request;
import dev.holdfast.server.http.Route;
import dev.holdfast.server.tenancy.KindInfo;
import dev.holdfast.server.tenancy.KindSettings;
import dev.holdfast.server.tenancy.Node;
import dev.holdfast.server.tenancy.Setting;
import dev.holdfast.server.tenancy.Webhook;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** What a tenant has beside its jobs: kinds, nodes, settings, webhooks, and the record of acts. */
final class RegistryRoutes {

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
        Route.of(DELETE, BASE + "/nodes/{id}", Role.SYSTEM, "Removes a node", this::deleteNode),
        Route.of(GET, BASE + "/settings", Role.VIEWER, "Lists settings", this::settings),
        Route.of(PUT, BASE + "/settings/{name}", Role.ADMIN, "Changes a setting", this::putSetting)
            .fields("value"),
        Route.of(
                PUT,
                BASE + "/pull-secret",
                Role.ADMIN,
                "What pull workers sign their requests with",
                this::putPullSecret)
            .fields("secret"),
        Route.of(
            DELETE,
            BASE + "/pull-secret",
            Role.ADMIN,
            "Pull workers need not sign any more",
            this::dropPullSecret),
        Route.of(GET, BASE + "/webhooks", Role.ADMIN, "Lists webhooks", this::webhooks),
        Route.of(PUT, BASE + "/webhooks/{name}", Role.ADMIN, "Makes a webhook", this::putWebhook)
            .fields("url", "events", "secret"),
        Route.of(
            DELETE, BASE + "/webhooks/{name}", Role.ADMIN, "Removes a webhook", this::dropWebhook),
        Route.of(GET, BASE + "/audit", Role.OPERATOR, "Who did what, newest first", this::audit)
            .queries("limit", "after"),
        Route.of(
            GET, BASE + "/invariants", Role.VIEWER, "What is not as it must be", this::invariants));
  }

  private Answer kinds(Request request) {
    int limit = request.limit();
    List<KindInfo> kinds = request.desk().kinds().list(request.after(), limit);
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
                .desk()
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
    request.desk().kinds().put(kind, request.act());
    return Answer.ok(json(request, kind));
  }

  // What is put as it was got has masks where the secrets were.
  private static ObjectNode restored(Request request, String name, ObjectNode said) {
    return request
        .desk()
        .kinds()
        .find(name)
        .flatMap(KindInfo::settings)
        .map(before -> MaskedArgs.restored(said, before.fixed()))
        .orElse(said);
  }

  // Like arguments, which they become.
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
    List<Node> nodes = request.desk().nodes().list(request.after(), limit);
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
                .desk()
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
    request.desk().nodes().put(node, request.act());
    return Answer.ok(json(node));
  }

  private Answer deleteNode(Request request) {
    request.desk().nodes().delete(request.path("id"), request.act());
    return Answer.done();
  }

  private static ObjectNode json(Node node) {
    return RunbookJson.node(node.address());
  }

  private Answer putPullSecret(Request request) {
    request.desk().pullSecret().put(request.body().text("secret"), request.act());
    return Answer.done();
  }

  private Answer dropPullSecret(Request request) {
    request.desk().pullSecret().delete(request.act());
    return Answer.done();
  }

  private Answer settings(Request request) {
    ObjectNode json = Json.object();
    ArrayNode list = json.putArray("settings");
    request
        .desk()
        .settings()
        .all()
        .forEach((setting, value) ->
            list.addObject()
                .put("name", setting.name())
                .put("value", value)
                .put("default", setting.ofItself()));
    return Answer.ok(json);
  }

  private Answer putSetting(Request request) {
    String name = request.path("name");
    Setting setting =
        Setting.named(name)
            .orElseThrow(() -> new HoldfastException(ErrorCode.NOT_FOUND, "no setting " + name));
    Fields body = request.body();
    // Numbers, and numbers in quotes: the environment knows no others.
    long value =
        body.any("value").filter(JsonNode::isString).isPresent()
            ? setting.parse(body.text("value"))
            : body.number("value");
    request.desk().settings().put(setting, value, request.act());
    return Answer.ok(Json.object().put("name", setting.name()).put("value", value));
  }

  private Answer webhooks(Request request) {
    ObjectNode json = Json.object();
    ArrayNode list = json.putArray("webhooks");
    request.desk().webhooks().list().forEach(webhook -> list.add(json(webhook)));
    return Answer.ok(json);
  }

  private Answer putWebhook(Request request) {
    Fields body = request.body();
    String name = request.path("name");
    Optional<String> kept = request.desk().webhooks().find(name).map(Webhook::secret);
    Webhook webhook =
        new Webhook(
            name,
            body.text("url"),
            body.texts("events").stream().map(Webhook.Event::of).collect(Collectors.toSet()),
            body.optionalText("secret")
                .or(() -> kept)
                .orElseThrow(() -> body.missing("secret", "text that signs what is sent")));
    request.desk().webhooks().put(webhook, request.act());
    return Answer.ok(json(webhook));
  }

  private Answer dropWebhook(Request request) {
    request.desk().webhooks().delete(request.path("name"), request.act());
    return Answer.done();
  }

  /** The secret goes in, and never out. */
  private static ObjectNode json(Webhook webhook) {
    ObjectNode json = Json.object();
    json.put("name", webhook.name());
    json.put("url", webhook.url());
    webhook.events().stream()
        .map(Webhook.Event::stored)
        .sorted()
        .forEach(json.putArray("events")::add);
    return json;
  }

  private Answer audit(Request request) {
    int limit = request.limit();
    List<AuditRecord> acts =
        request.desk().audit().before(request.number("after").orElse(Long.MAX_VALUE), limit);
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
    for (Violation violation : request.desk().invariants().check()) {
      ObjectNode each = list.addObject();
      each.put("id", violation.id());
      Json.put(each, "job_id", violation.jobId());
      Json.put(each, "resource", violation.resource());
      each.put("detail", violation.detail());
    }
    return Answer.ok(json);
  }
}
