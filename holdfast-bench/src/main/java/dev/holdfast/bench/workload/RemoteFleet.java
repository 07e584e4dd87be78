package dev.holdfast.bench.workload;

import dev.holdfast.api.Json;
import java.io.IOException;
import java.io.PrintStream;
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

  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final int port;
  private final AtomicInteger failures = new AtomicInteger();
  private final AtomicLongArray leased;
  private final AtomicIntegerArray finished;
  private final CountDownLatch left;
  private volatile boolean closed;

  private RemoteFleet(int port, int jobs) {
    this.port = port;
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
      try (PlainHttp http = new PlainHttp(port)) {
        while (!closed) {
          work(http, name, ask);
        }
      } catch (IOException e) {
        if (!closed) {
          failures.incrementAndGet(); // and asks again, as every worker would
          System.err.println(name + ": " + e);
        }
      }
    }
  }

  private void work(PlainHttp http, String name, String ask) throws IOException {
    for (JsonNode lease : post(http, "/api/v1/leases", ask).path("leases")) {
      int number = lease.path("job").path("args").asInt();
      leased.set(number, System.nanoTime());
      post(http, "/api/v1/leases/finish", ended(name, lease));
      finished.incrementAndGet(number);
      left.countDown();
    }
  }

  private static String ended(String name, JsonNode lease) {
    return """
    {"worker": "%s", "results": [{"job_id": "%s", "fence": %d, "outcome": "succeeded"}]}
    """
        .formatted(name, lease.path("job").path("id").asString(), lease.path("fence").asLong());
  }

  private static JsonNode post(PlainHttp http, String path, String body) throws IOException {
    PlainHttp.Reply reply = http.post(path, body);
    if (reply.status() != 200) {
      throw new IOException(path + " was answered " + reply.status() + ": " + reply.body());
    }
    return Json.parse("answer", reply.body());
  }

  @Override
  public void close() {
    closed = true;
    threads.shutdownNow();
  }
}
