package dev.holdfast.bench.workload;

import dev.holdfast.api.Json;
import dev.holdfast.bench.measure.Durations;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/** Agents that know nothing but HTTP: each asks once a second, some report on a job as often. */
final class PollingFleet implements AutoCloseable {

  private static final Duration PERIOD = Duration.ofSeconds(1);

  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final int port;
  private final AtomicInteger failures = new AtomicInteger();
  private volatile Durations asking = new Durations();
  private volatile Durations reporting = new Durations();
  private volatile boolean closed;

  PollingFleet(int port) {
    this.port = port;
  }

  /** Gives some of them a job, and then lets all of them go on, spread over the second. */
  void start(int agents, int withJob) throws IOException {
    List<String> jobs = new ArrayList<>(); // all, before anybody asks for one of the others'
    try (PlainHttp http = new PlainHttp(port)) {
      for (int number = 0; number < withJob; number++) {
        http.post("/run-simulation", "{\"config_path\": \"bench.yaml\"}");
        jobs.add(
            Json.parse("answer", http.post("/api/agent/next-job", asks(name(number))).body())
                .path("job_id")
                .asString());
      }
    }
    for (int number = 0; number < withJob; number++) {
      int agent = number;
      threads.execute(
          () -> every(agent * 1000 / withJob, http -> report(http, name(agent), jobs.get(agent))));
    }
    for (int number = 0; number < agents; number++) {
      int agent = number;
      threads.execute(() -> every(agent * 1000 / agents, http -> ask(http, name(agent))));
    }
  }

  private static String name(int number) {
    return "agent-" + number;
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
    void send(PlainHttp http) throws IOException;
  }

  // By the clock and not after each other: who is answered late asks no less for that.
  private void every(int phaseMillis, Request request) {
    long next = System.nanoTime() + Duration.ofMillis(phaseMillis).toNanos();
    while (!closed) {
      try (PlainHttp http = new PlainHttp(port)) {
        while (!closed) {
          Thread.sleep(Duration.ofNanos(Math.max(0, next - System.nanoTime())));
          next += PERIOD.toNanos();
          request.send(http);
        }
      } catch (IOException e) {
        failures.incrementAndGet();
      } catch (InterruptedException e) {
        return;
      }
    }
  }

  private void ask(PlainHttp http, String name) throws IOException {
    time(asking, http, "/api/agent/next-job", asks(name), 204);
  }

  private void report(PlainHttp http, String name, String id) throws IOException {
    String report =
        "{\"job_id\": \"%s\", \"status\": \"running\", \"worker_id\": \"%s\"}".formatted(id, name);
    time(reporting, http, "/api/agent/job-status", report, 200);
  }

  private void time(Durations times, PlainHttp http, String path, String body, int expected)
      throws IOException {
    long began = System.nanoTime();
    int status = http.post(path, body).status();
    times.add(System.nanoTime() - began);
    if (status != expected) {
      failures.incrementAndGet();
    }
  }

  private static String asks(String name) {
    return "{\"worker_id\": \"" + name + "\"}";
  }

  @Override
  public void close() {
    closed = true;
    threads.shutdownNow();
  }
}
