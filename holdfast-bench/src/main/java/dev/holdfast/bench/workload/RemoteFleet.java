package dev.holdfast.bench.workload;

import dev.holdfast.api.Json;
import java.io.IOException;
import java.io.PrintStream;
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
public final class RemoteFleet implements AutoCloseable {

  private static final int PATIENCE_SECONDS = 120;

  private final HttpClient http = HttpClient.newHttpClient();
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final URI leases;
  private final URI finish;
  private final AtomicInteger failures = new AtomicInteger();
  private final AtomicLongArray leased;
  private final AtomicIntegerArray finished;
  private final CountDownLatch left;
  private volatile boolean closed;

  private RemoteFleet(int port, int jobs) {
    leases = URI.create("http://127.0.0.1:" + port + "/api/v1/leases");
    finish = URI.create(leases + "/finish");
    leased = new AtomicLongArray(jobs);
    finished = new AtomicIntegerArray(jobs);
    left = new CountDownLatch(jobs);
  }

  /** So many workers, for so many jobs, whose args are their numbers from zero. */
  public static RemoteFleet start(int port, int workers, int jobs) {
    RemoteFleet fleet = new RemoteFleet(port, jobs);
    for (int i = 0; i < workers; i++) {
      String name = "w" + i;
      fleet.threads.execute(() -> fleet.work(name));
    }
    return fleet;
  }

  /** Waits until all jobs have ended, and says when each was leased and how often it ended. */
  public void tell(PrintStream out) throws InterruptedException, TimeoutException {
    long before = left.getCount();
    while (!left.await(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
      if (left.getCount() == before && before < leased.length()) {
        throw new TimeoutException(before + " jobs do not end");
      }
      before = left.getCount();
    }
    out.println(failures + " " + System.nanoTime());
    for (int number = 0; number < leased.length(); number++) {
      out.println(leased.get(number) + " " + finished.get(number));
    }
  }

  private void work(String name) {
    String ask =
        "{\"worker\": \"%s\", \"queues\": [\"default\"], \"wait_seconds\": 30}".formatted(name);
    while (!closed) {
      try {
        for (JsonNode lease : post(leases, ask).path("leases")) {
          int number = lease.path("job").path("args").asInt();
          leased.set(number, System.nanoTime());
          post(finish, ended(name, lease));
          finished.incrementAndGet(number);
          left.countDown();
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
