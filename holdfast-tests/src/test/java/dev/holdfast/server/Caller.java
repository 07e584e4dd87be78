package dev.holdfast.server;

import dev.holdfast.api.Json;
import dev.holdfast.tenant.TenantName;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.Optional;
import tools.jackson.databind.JsonNode;

/** Somebody who speaks HTTP, and knows nothing of Holdfast's classes. */
record Caller(int port, Optional<String> token, Optional<TenantName> tenant) {

  private static final HttpClient HTTP = HttpClient.newHttpClient();

  record Reply(int status, String contentType, String text) {

    JsonNode json() {
      return Json.parse("answer", text);
    }

    String code() {
      return json().path("code").asString("");
    }
  }

  Reply get(String path) {
    return send("GET", path, Optional.empty());
  }

  Reply post(String path, String json) {
    return send("POST", path, Optional.of(json));
  }

  Reply put(String path, String json) {
    return send("PUT", path, Optional.of(json));
  }

  /** As a page's form sends it, but for a token in place of a session. */
  Reply form(String path, String form) {
    return send("POST", path, Optional.of(form), "application/x-www-form-urlencoded");
  }

  Reply send(String method, String path, Optional<String> json) {
    return send(method, path, json, "application/json");
  }

  private Reply send(String method, String path, Optional<String> body, String type) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
            .method(method, body.map(BodyPublishers::ofString).orElse(BodyPublishers.noBody()));
    body.ifPresent(given -> request.header("Content-Type", type));
    token.ifPresent(given -> request.header("Authorization", "Bearer " + given));
    tenant.ifPresent(name -> request.header("X-Holdfast-Tenant", name.value()));
    return send(request.build());
  }

  static Reply send(HttpRequest request) {
    try {
      return sendOnce(request);
    } catch (IllegalStateException e) {
      // A refused request closes its connection, and the next may have been on its way there.
      if (String.valueOf(e.getMessage()).contains("received no bytes")) {
        return sendOnce(request);
      }
      throw e;
    }
  }

  private static Reply sendOnce(HttpRequest request) {
    try {
      HttpResponse<String> answer = HTTP.send(request, BodyHandlers.ofString());
      return new Reply(
          answer.statusCode(),
          answer.headers().firstValue("Content-Type").orElse(""),
          answer.body());
    } catch (IOException e) {
      throw new IllegalStateException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }
}
