package dev.holdfast.agent;

import dev.holdfast.api.Fields;
import dev.holdfast.api.Json;
import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import tools.jackson.databind.node.ObjectNode;

/**
 * A server that coordinates workers as the document on jobs and workers says, whatever it is made
 * of. One that cannot be reached is {@link ErrorCode#UNAVAILABLE}. Thread-safe.
 *
 * @param headers of every request
 */
public record SimulationServer(HttpClient http, String base, Map<String, String> headers) {

  private static final Duration TIMEOUT = Duration.ofSeconds(10);

  /** What was answered. */
  record Answer(int status, String text) {

    boolean isOk() {
      return status / 100 == 2;
    }

    Fields body() {
      return Fields.of("answer", Json.parse("answer", text));
    }
  }

  /**
   * At an address.
   *
   * @param url like {@code http://127.0.0.1:8080}
   */
  public static SimulationServer at(String url, Map<String, String> headers) {
    if (!url.matches("https?://[^/?#\\s]+(/[^?#\\s]*)?")) {
      throw HoldfastException.badConfig("server", url, "like http://127.0.0.1:8080");
    }
    HttpClient http =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Duration.ofSeconds(5))
            .build();
    String base = url.endsWith("/") ? url.substring(0, url.length() - 1) : url;
    return new SimulationServer(http, base, Map.copyOf(headers));
  }

  /** A job, if there is one. */
  Optional<Fields> nextJob(String worker) {
    Answer answer = post("/api/agent/next-job", Json.object().put("worker_id", worker));
    if (answer.status == 204) {
      return Optional.empty();
    }
    if (!answer.isOk()) {
      throw refused("next-job", answer);
    }
    return Optional.of(answer.body());
  }

  Answer report(ObjectNode status) {
    Answer answer = post("/api/agent/job-status", status);
    if (!answer.isOk() && answer.status != 409 && answer.status != 404) {
      throw refused("job-status", answer);
    }
    return answer;
  }

  void heartbeat(String worker, ObjectNode info) {
    ObjectNode body = Json.object().put("worker_id", worker);
    body.set("info", info);
    Answer answer = post("/api/agent/heartbeat", body);
    if (!answer.isOk()) {
      throw refused("heartbeat", answer);
    }
  }

  /** What is known of a job; empty when nothing is. */
  Optional<Fields> status(String jobId) {
    Answer answer = send("GET", "/status/" + jobId, Optional.empty());
    if (answer.status == 404) {
      return Optional.empty();
    }
    if (!answer.isOk()) {
      throw refused("status", answer);
    }
    return Optional.of(answer.body());
  }

  private Answer post(String path, ObjectNode body) {
    return send("POST", path, Optional.of(body));
  }

  private Answer send(String method, String path, Optional<ObjectNode> body) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(base + path))
            .timeout(TIMEOUT)
            .method(
                method,
                body.map(json -> BodyPublishers.ofString(Json.write(json)))
                    .orElseGet(BodyPublishers::noBody));
    headers.forEach(request::header);
    body.ifPresent(json -> request.header("Content-Type", "application/json"));
    boolean interrupted = Thread.interrupted(); // who is told to stop must be able to say that
    try {
      HttpResponse<String> answer =
          http.send(request.build(), BodyHandlers.ofString(StandardCharsets.UTF_8));
      return new Answer(answer.statusCode(), answer.body());
    } catch (IOException e) {
      throw new HoldfastException(
          ErrorCode.UNAVAILABLE, "no answer to " + method + " " + path + ": " + e, e);
    } catch (InterruptedException e) {
      interrupted = true;
      throw new HoldfastException(ErrorCode.UNAVAILABLE, "interrupted at " + path, e);
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private static HoldfastException refused(String what, Answer answer) {
    ErrorCode code =
        switch (answer.status) {
          case 401, 403 -> ErrorCode.FORBIDDEN;
          case 400, 422 -> ErrorCode.INVALID_ARGUMENT;
          default -> ErrorCode.UNAVAILABLE;
        };
    return new HoldfastException(code, what + " was answered " + answer.status + " " + answer.text);
  }
}
