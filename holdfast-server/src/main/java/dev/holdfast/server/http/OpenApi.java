package dev.holdfast.server.http;

import dev.holdfast.api.Json;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Writes the route table as an OpenAPI document. */
public final class OpenApi {

  private OpenApi() {}

  public static ObjectNode of(List<Route> routes) {
    ObjectNode json = Json.object();
    json.put("openapi", "3.1.0");
    json.putObject("info")
        .put("title", "Holdfast")
        .put("version", "1")
        .put("description", "Durable job execution.");
    ObjectNode paths = json.putObject("paths");
    routes.stream()
        .filter(route -> !route.isPage())
        .forEach(route -> {
          ObjectNode path =
              paths.get(route.path()) instanceof ObjectNode there
                  ? there
                  : paths.putObject(route.path());
          path.set(route.method().name().toLowerCase(Locale.ROOT), operation(route));
        });
    ObjectNode components = json.putObject("components");
    components
        .putObject("securitySchemes")
        .putObject("token")
        .put("type", "http")
        .put("scheme", "bearer");
    components.putObject("schemas").set("Problem", problem());
    components.withObject("schemas").set("Detail", detail());
    return json;
  }

  private static ObjectNode operation(Route route) {
    ObjectNode json = Json.object();
    json.put("operationId", operationId(route));
    json.put("summary", route.summary());
    ArrayNode parameters = json.putArray("parameters");
    route.parameters().forEach(name -> parameters.add(parameter(name, "path", true)));
    route.queries().stream()
        .sorted()
        .forEach(name -> parameters.add(parameter(name, "query", false)));
    if (route.role().isPresent() && route.scope() == Route.Scope.TENANT) {
      parameters.add(parameter("X-Holdfast-Tenant", "header", false));
    }
    if (!route.fields().isEmpty()) {
      ObjectNode schema =
          json.putObject("requestBody")
              .putObject("content")
              .putObject("application/json")
              .putObject("schema");
      schema.put("type", "object").put("additionalProperties", route.style() == Style.DIALECT);
      ObjectNode properties = schema.putObject("properties");
      route.fields().stream().sorted().forEach(properties::putObject);
    }
    ObjectNode responses = json.putObject("responses");
    responses.putObject("2XX").put("description", "Done");
    ObjectNode wrong =
        responses.putObject("default").put("description", "What went wrong").putObject("content");
    switch (route.style()) {
      case NATIVE, PAGE -> // though the document leaves pages out
          wrong
              .putObject("application/problem+json")
              .putObject("schema")
              .put("$ref", "#/components/schemas/Problem");
      case DIALECT ->
          wrong
              .putObject("application/json")
              .putObject("schema")
              .put("$ref", "#/components/schemas/Detail");
    }
    ArrayNode security = json.putArray("security");
    route
        .role()
        .ifPresent(role -> {
          security.addObject().putArray("token");
          json.put("x-role", role.stored());
        });
    return json;
  }

  private static String operationId(Route route) {
    String path = route.path().replaceAll("[^A-Za-z0-9]+", "_").replaceAll("_$", "");
    // Two routes may differ only in the slash at the end.
    String slash = route.path().length() > 1 && route.path().endsWith("/") ? "_slash" : "";
    return route.method().name().toLowerCase(Locale.ROOT) + path + slash;
  }

  private static ObjectNode parameter(String name, String in, boolean required) {
    ObjectNode json = Json.object().put("name", name).put("in", in).put("required", required);
    json.putObject("schema").put("type", "string");
    return json;
  }

  private static ObjectNode detail() {
    ObjectNode json = Json.object().put("type", "object");
    json.putObject("properties").putObject("detail").put("type", "string");
    json.putArray("required").add("detail");
    return json;
  }

  private static ObjectNode problem() {
    ObjectNode json = Json.object().put("type", "object");
    ObjectNode properties = json.putObject("properties");
    Stream.of("type", "title", "code", "detail")
        .forEach(name -> properties.putObject(name).put("type", "string"));
    properties.putObject("status").put("type", "integer");
    Stream.of("title", "status", "code", "detail").forEach(json.putArray("required")::add);
    return json;
  }
}
