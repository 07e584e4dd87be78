package dev.holdfast.server.http;

import dev.holdfast.api.Json;
import java.util.Optional;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The answer to a request.
 *
 * @param unread runs when it is certain that the client did not get the answer
 */
public record Answer(int status, String contentType, String body, Optional<Runnable> unread) {

  private static final String JSON = "application/json";
  private static final String HTML = "text/html; charset=utf-8";

  public Answer(int status, String contentType, String body) {
    this(status, contentType, body, Optional.empty());
  }

  /** The same answer, with work to do when it is certain that the client did not get it. */
  public Answer ifUnread(Runnable work) {
    return new Answer(status, contentType, body, Optional.of(work));
  }

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

  public static Answer page(int status, String html) {
    return new Answer(status, HTML, html);
  }

  /** Redirects to another page, which the browser then loads. */
  public static Answer seeOther() {
    return new Answer(303, HTML, "");
  }

  boolean isPage() {
    return contentType.equals(HTML);
  }

  /** {@code {"done": true}}, for routes that have nothing else to answer. */
  public static Answer done() {
    ObjectNode json = Json.object().put("done", true);
    return ok(json);
  }
}
