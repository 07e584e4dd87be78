package dev.holdfast.api;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Sends requests to a server, and turns refusals into exceptions with the server's codes.
 * Thread-safe.
 *
 * @param base the address that paths are appended to, without a slash at the end
 * @param headers the headers of every request
 * @param timeout for a whole answer
 */
record Wire(HttpClient http, String base, Map<String, String> headers, Duration timeout) {

  private static final Logger log = LoggerFactory.getLogger(Wire.class);

  private static final String API = "/api/v1";

  /** An answer that is not a refusal. */
  record Answer(int status, Fields body) {}

  Answer get(String path, Map<String, String> query) {
    return send("GET", withQuery(path, query), Optional.empty(), timeout);
  }

  private static String encoded(String value) {
    return URLEncoder.encode(value, StandardCharsets.UTF_8);
  }

  Answer post(String path, ObjectNode body) {
    return send("POST", path, Optional.of(Json.write(body)), timeout);
  }

  Answer postRepeatable(String path, ObjectNode body) {
    return postRepeatable(path, body, Duration.ZERO);
  }

  /**
   * Sends a request that does no harm when it is executed twice; sends it again, once, when the
   * answer is lost.
   *
   * @param wait how long the server was asked to wait
   */
  Answer postRepeatable(String path, ObjectNode body, Duration wait) {
    Optional<String> text = Optional.of(Json.write(body));
    try {
      return send("POST", path, text, timeout.plus(wait));
    } catch (HoldfastException e) {
      if (e.code() != ErrorCode.UNAVAILABLE && e.code() != ErrorCode.DATABASE) {
        throw e;
      }
      log.debug("Asking again for {}", path, e);
      return send("POST", path, text, timeout.plus(wait));
    }
  }

  Answer send(String method, String path, Optional<ObjectNode> body) {
    return send(method, path, body.map(Json::write), timeout);
  }

  static String withQuery(String path, Map<String, String> query) {
    String asked =
        query.entrySet().stream()
            .map(entry -> entry.getKey() + "=" + encoded(entry.getValue()))
            .collect(Collectors.joining("&"));
    return asked.isEmpty() ? path : path + "?" + asked;
  }

  private Answer send(String method, String path, Optional<String> body, Duration limit) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(base + API + path))
            .method(method, body.map(BodyPublishers::ofString).orElse(BodyPublishers.noBody()));
    headers.forEach(request::header);
    body.ifPresent(json -> request.header("Content-Type", "application/json"));
    HttpResponse<String> answer = await(request.build(), limit);
    if (answer.statusCode() / 100 != 2) {
      throw refusal(answer);
    }
    JsonNode json = Verbatim.read(answer.body());
    return new Answer(answer.statusCode(), Fields.of("answer", json));
  }

  // Ignores interrupts: a handler that is told to stop may still report its progress, and the jobs
  // that a claim returns must run. The time limit is kept here, because that of an HttpRequest ends
  // with the first byte of its answer.
  private HttpResponse<String> await(HttpRequest request, Duration limit) {
    CompletableFuture<HttpResponse<String>> answer =
        http.sendAsync(request, BodyHandlers.ofString(StandardCharsets.UTF_8));
    try {
      return answer.copy().orTimeout(limit.toMillis(), TimeUnit.MILLISECONDS).join();
    } catch (CompletionException e) {
      answer.cancel(true);
      Throwable cause = e.getCause() == null ? e : e.getCause();
      throw new HoldfastException(
          ErrorCode.UNAVAILABLE,
          "no answer to %s %s: %s".formatted(request.method(), request.uri(), cause),
          cause);
    }
  }

  private static HoldfastException refusal(HttpResponse<String> answer) {
    int status = answer.statusCode();
    Optional<Fields> problem = problem(answer.body());
    String detail =
        problem.flatMap(said -> said.optionalText("detail")).orElse("HTTP status " + status);
    return new HoldfastException(
        problem
            .flatMap(said -> said.optionalText("code"))
            .flatMap(Wire::known)
            .orElseGet(() -> code(status)),
        detail);
  }

  // A proxy between this client and the server may answer with another format.
  private static Optional<Fields> problem(String body) {
    try {
      return Optional.of(Fields.of("answer", Verbatim.read(body)));
    } catch (HoldfastException e) {
      return Optional.empty();
    }
  }

  private static Optional<ErrorCode> known(String name) {
    return Arrays.stream(ErrorCode.values()).filter(code -> code.name().equals(name)).findFirst();
  }

  /** For answers without a code that is known here: from a proxy, or from a later server. */
  private static ErrorCode code(int status) {
    return switch (status) {
      case 401, 403 -> ErrorCode.FORBIDDEN;
      case 404 -> ErrorCode.NOT_FOUND;
      case 409 -> ErrorCode.STATE_CONFLICT;
      case 408, 429 -> ErrorCode.UNAVAILABLE;
      default -> status / 100 == 4 ? ErrorCode.INVALID_ARGUMENT : ErrorCode.UNAVAILABLE;
    };
  }
}
