package dev.holdfast.bench.workload;

import dev.holdfast.api.Json;
import dev.holdfast.bench.measure.Durations;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLongArray;
import tools.jackson.databind.JsonNode;

/** Workers that know nothing but HTTP: each waits for a job, and says that it is done. */
final class RemoteFleet implements AutoCloseable {

  private static final int PATIENCE_SECONDS = 120;

  private final HttpClient http = HttpClient.newHttpClient();
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final URI leases;
  private final URI finish;
  private final AtomicInteger failures = new AtomicInteger();
  private volatile boolean closed;
  private volatile Run run = new Run(0);

  /** What is measured at a time. */
  private static final class Run {
    final AtomicLongArray committed;
    final AtomicLongArray leased;
    final AtomicIntegerArray finished;
    final CountDownLatch left;
    final long beganNanos = System.nanoTime();
    volatile long endedNanos;

    Run(int jobs) {
      committed = new AtomicLongArray(jobs);
      leased = new AtomicLongArray(jobs);
      finished = new AtomicIntegerArray(jobs);
      left = new CountDownLatch(jobs);
    }
  }

  private RemoteFleet(int port) {
    leases = URI.create("http://127.0.0.1:" + port + "/api/v1/leases");
    finish = URI.create(leases + "/finish");
  }

  static RemoteFleet start(int port, int workers) {
    RemoteFleet fleet = new RemoteFleet(port);
    for (int i = 0; i < workers; i++) {
      String name = "w" + i;
      fleet.threads.execute(() -> fleet.work(name));
    }
    return fleet;
  }

  void expect(int jobs) {
    run = new Run(jobs);
  }

  void committed(int from, int count) {
    long now = System.nanoTime();
    for (int number = from; number < from + count; number++) {
      run.committed.set(number, now);
    }
  }

  /** From the commit to the lease; fails when a job was lost, or done twice. */
  Durations awaitAll() throws InterruptedException, TimeoutException {
    Run now = run;
    if (!now.left.await(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
      throw new TimeoutException(now.left.getCount() + " jobs did not end");
    }
    now.endedNanos = System.nanoTime();
    Durations latencies = new Durations();
    for (int number = 0; number < now.finished.length(); number++) {
      if (now.finished.get(number) != 1) {
        throw new IllegalStateException(
            "job " + number + " ended " + now.finished.get(number) + " times");
      }
      latencies.add(Math.max(0, now.leased.get(number) - now.committed.get(number)));
    }
    return latencies;
  }

  /** Requests that got no answer. */
  int failures() {
    return failures.get();
  }

  double finishedPerSecond() {
    Run now = run;
    return now.finished.length() * 1e9 / (now.endedNanos - now.beganNanos);
  }

  private void work(String name) {
    String ask =
        "{\"worker\": \"%s\", \"queues\": [\"default\"], \"wait_seconds\": 30}".formatted(name);
    while (!closed) {
      try {
        for (JsonNode lease : post(leases, ask).path("leases")) {
          int number = lease.path("job").path("args").asInt();
          run.leased.set(number, System.nanoTime());
          post(finish, ended(name, lease));
          run.finished.incrementAndGet(number);
          run.left.countDown();
        }
      } catch (IOException e) {
        if (!closed) {
          failures.incrementAndGet(); // and asks again, as every worker would
        }
      } catch (InterruptedException e) {
        return;
      }
    }
  }

  private static String ended(String name, JsonNode lease) {
    return """
    {"worker": "%s", "results": [{"job_id": "%s", "fence": %d, "outcome": "succeeded"}]}
    """
        .formatted(name, lease.path("job").path("id").asString(), lease.path("fence").asLong());
  }

  private JsonNode post(URI uri, String body) throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(uri)
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofString(body))
            .build();
    return Json.parse("answer", http.send(request, BodyHandlers.ofString()).body());
  }

  @Override
  public void close() {
    closed = true;
    threads.shutdownNow();
    http.shutdownNow();
  }
}
