package dev.holdfast.bench.workload;

import dev.holdfast.api.Json;
import dev.holdfast.bench.measure.Durations;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/** Agents that know nothing but HTTP: each asks once a second, some report on a job as often. */
final class PollingFleet implements AutoCloseable {

  private static final Duration PERIOD = Duration.ofSeconds(1);

  private final HttpClient http = HttpClient.newHttpClient();
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final String server;
  private final AtomicInteger failures = new AtomicInteger();
  private volatile Durations asking = new Durations();
  private volatile Durations reporting = new Durations();
  private volatile boolean closed;

  PollingFleet(int port) {
    server = "http://127.0.0.1:" + port;
  }

  /** Gives some of them a job, and then lets all of them go on, spread over the second. */
  void start(int agents, int withJob) throws IOException, InterruptedException {
    for (int number = 0; number < agents; number++) {
      String name = "agent-" + number;
      if (number < withJob) {
        post("/run-simulation", "{\"config_path\": \"bench.yaml\"}");
        String id =
            Json.parse("answer", post("/api/agent/next-job", asks(name)).body())
                .path("job_id")
                .asString();
        int phase = number * 1000 / withJob;
        threads.execute(() -> every(phase, () -> report(name, id)));
      }
      int phase = number * 1000 / agents;
      threads.execute(() -> every(phase, () -> ask(name)));
    }
  }

  /** What was measured so far was only to get going. */
  void forget() {
    asking = new Durations();
    reporting = new Durations();
    failures.set(0);
  }

  Durations asking() {
    return asking;
  }

  Durations reporting() {
    return reporting;
  }

  /** Requests without an answer, or with another one than there should be. */
  int failures() {
    return failures.get();
  }

  private interface Request {
    void send() throws IOException, InterruptedException;
  }

  // By the clock and not after each other: who is answered late asks no less for that.
  private void every(int phaseMillis, Request request) {
    long next = System.nanoTime() + Duration.ofMillis(phaseMillis).toNanos();
    while (!closed) {
      try {
        Thread.sleep(Duration.ofNanos(Math.max(0, next - System.nanoTime())));
        next += PERIOD.toNanos();
        request.send();
      } catch (IOException e) {
        failures.incrementAndGet();
      } catch (InterruptedException e) {
        return;
      }
    }
  }

  private void ask(String name) throws IOException, InterruptedException {
    long began = System.nanoTime();
    int status = post("/api/agent/next-job", asks(name)).statusCode();
    asking.add(System.nanoTime() - began);
    if (status != 204) {
      failures.incrementAndGet();
    }
  }

  private void report(String name, String id) throws IOException, InterruptedException {
    long began = System.nanoTime();
    int status =
        post(
                "/api/agent/job-status",
                "{\"job_id\": \"%s\", \"status\": \"running\", \"worker_id\": \"%s\"}"
                    .formatted(id, name))
            .statusCode();
    reporting.add(System.nanoTime() - began);
    if (status != 200) {
      failures.incrementAndGet();
    }
  }

  private static String asks(String name) {
    return "{\"worker_id\": \"" + name + "\"}";
  }

  private HttpResponse<String> post(String path, String body)
      throws IOException, InterruptedException {
    return http.send(
        HttpRequest.newBuilder(URI.create(server + path))
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofString(body))
            .build(),
        BodyHandlers.ofString());
  }

  @Override
  public void close() {
    closed = true;
    threads.shutdownNow();
    http.shutdownNow();
  }
}
