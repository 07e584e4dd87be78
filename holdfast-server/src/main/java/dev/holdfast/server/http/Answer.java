package dev.holdfast.server.http;

import dev.holdfast.api.Json;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** What goes back. */
public record Answer(int status, String contentType, String body) {

  private static final String JSON = "application/json";

  public static Answer ok(JsonNode json) {
    return json(200, JSON, json);
  }

  public static Answer created(JsonNode json) {
    return json(201, JSON, json);
  }

  public static Answer json(int status, String contentType, JsonNode json) {
    return new Answer(status, contentType, Json.write(json));
  }

  public static Answer text(String contentType, String text) {
    return new Answer(200, contentType, text);
  }

  /** {@code {"done": true}}: there is nothing else to say. */
  public static Answer done() {
    ObjectNode json = Json.object().put("done", true);
    return ok(json);
  }
}
