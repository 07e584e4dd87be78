package dev.holdfast.soak;

import dev.holdfast.api.Json;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import tools.jackson.databind.JsonNode;

/** Those who come by plain HTTP: browsers, scrapers, and workers written for other systems. */
final class Visits {

  private static final List<String> PAGES =
      List.of("/ui", "/ui/jobs", "/ui/queues", "/ui/resources", "/ui/schedules", "/ui/workers");

  private static final Duration PATIENCE = Duration.ofSeconds(5);

  private final HttpClient http =
      HttpClient.newBuilder()
          .followRedirects(HttpClient.Redirect.NORMAL)
          .connectTimeout(PATIENCE)
          .build();
  private final String address;

  Visits(String address) {
    this.address = address;
  }

  Map<Feature, Runnable> all() {
    Map<Feature, Runnable> all = new EnumMap<>(Feature.class);
    all.put(Feature.PAGES, () -> PAGES.forEach(page -> get(page)));
    all.put(Feature.SCRAPES, () -> get("/metrics"));
    all.put(Feature.STREAMS, this::hearOnce);
    all.put(Feature.PULLED_JOBS, this::pull);
    all.put(Feature.SIMULATIONS, this::simulate);
    all.put(Feature.BOOKINGS, this::book);
    return all;
  }

  private void hearOnce() {
    HttpRequest request = request("/api/v1/events").build();
    try (BufferedReader events =
        new BufferedReader(
            new InputStreamReader(
                http.send(request, BodyHandlers.ofInputStream()).body(), StandardCharsets.UTF_8))) {
      if (events.readLine() == null) {
        throw new IllegalStateException("the stream ended before it said anything");
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void pull() {
    post("/api/v1/jobs", "{\"kind\": \"scrape\", \"queue\": \"pull\", \"target_count\": 2}");
    JsonNode job = get("/api/pull_job?lease_sec=30").path("job");
    post(
        "/api/report_results",
        """
        {"job_id": "%s", "attempt_id": %s, "items": [{"key": "a"}, {"key": "b"}], "cursor": "end",
         "done": true, "idempotency_key": "once"}
        """
            .formatted(job.path("id").asString(), job.path("attempt_id")));
  }

  private void simulate() {
    String id =
        post(
                "/run-simulation",
                "{\"config\": {\"experiment\": {\"name\": \"soak\"}}, \"save_as\": \"soak.yaml\"}")
            .path("job_id")
            .asString();
    post("/api/agent/next-job", "{\"worker_id\": \"soaked\"}");
    for (String status : List.of("running", "finished")) {
      post(
          "/api/agent/job-status",
          "{\"worker_id\": \"soaked\", \"job_id\": \"%s\", \"status\": \"%s\"}"
              .formatted(id, status));
    }
    send(request("/job/" + id).DELETE().build());
  }

  private void book() {
    String target = "/targets/" + new UUID(7, Work.dice().nextInt(10));
    String id =
        post(target + "/jobs/", "{\"api_name\": \"book\", \"parameters\": {\"guests\": 2}}")
            .path("id")
            .asString();
    get("/jobs/?status=queued");
    get(target + "/jobs/" + id + "/logs/");
  }

  private JsonNode get(String path) {
    return send(request(path).build());
  }

  private JsonNode post(String path, String json) {
    return send(
        request(path)
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofString(json))
            .build());
  }

  private HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(URI.create(address + path)).timeout(PATIENCE);
  }

  private JsonNode send(HttpRequest request) {
    try {
      var answer = http.send(request, BodyHandlers.ofString());
      if (answer.statusCode() >= 300) {
        throw new IllegalStateException(request + ": " + answer.statusCode() + answer.body());
      }
      return answer.body().startsWith("{") ? Json.parse("answer", answer.body()) : Json.object();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }
}
