package dev.holdfast.server.api;

import static dev.holdfast.server.api.Routes.BASE;
import static dev.holdfast.server.http.Route.Method.DELETE;
import static dev.holdfast.server.http.Route.Method.GET;
import static dev.holdfast.server.http.Route.Method.PUT;

import dev.holdfast.api.Fields;
import dev.holdfast.api.Json;
import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.server.auth.Role;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Request;
import dev.holdfast.server.http.Route;
import dev.holdfast.server.tenancy.Setting;
import dev.holdfast.server.tenancy.Webhook;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** What a tenant's admin decides: settings, the secret of pull workers, webhooks. */
final class SettingRoutes {

  List<Route> routes() {
    return List.of(
        Route.of(
            GET,
            BASE + "/settings",
            Role.VIEWER,
            "Lists settings as they are in force; null if the defaults of its queue leave it out",
            this::settings),
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
            DELETE, BASE + "/webhooks/{name}", Role.ADMIN, "Removes a webhook", this::dropWebhook));
  }

  private Answer settings(Request request) {
    ObjectNode json = Json.object();
    ArrayNode list = json.putArray("settings");
    request
        .services()
        .settings()
        .all()
        .forEach((setting, value) ->
            list.addObject()
                .put("name", setting.name())
                .put("value", value.orElse(null))
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
    request.services().settings().put(setting, value, request.act());
    return Answer.ok(Json.object().put("name", setting.name()).put("value", value));
  }

  private Answer putPullSecret(Request request) {
    request.services().pullSecret().put(request.body().text("secret"), request.act());
    return Answer.done();
  }

  private Answer dropPullSecret(Request request) {
    request.services().pullSecret().delete(request.act());
    return Answer.done();
  }

  private Answer webhooks(Request request) {
    ObjectNode json = Json.object();
    ArrayNode list = json.putArray("webhooks");
    request.services().webhooks().list().forEach(webhook -> list.add(json(webhook)));
    return Answer.ok(json);
  }

  private Answer putWebhook(Request request) {
    Fields body = request.body();
    String name = request.path("name");
    Optional<String> kept = request.services().webhooks().find(name).map(Webhook::secret);
    Webhook webhook =
        new Webhook(
            name,
            body.text("url"),
            body.texts("events").stream().map(Webhook.Event::of).collect(Collectors.toSet()),
            body.optionalText("secret")
                .or(() -> kept)
                .orElseThrow(() -> body.missing("secret", "text that signs what is sent")));
    request.services().webhooks().put(webhook, request.act());
    return Answer.ok(json(webhook));
  }

  private Answer dropWebhook(Request request) {
    request.services().webhooks().delete(request.path("name"), request.act());
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
}
