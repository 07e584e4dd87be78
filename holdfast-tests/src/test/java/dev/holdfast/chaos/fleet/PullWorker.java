package dev.holdfast.chaos.fleet;

import dev.holdfast.api.Json;
import dev.holdfast.chaos.ledger.LedgerClient;
import dev.holdfast.chaos.load.Chore;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Pulls jobs one by one, as a worker does that was written by the dialect's document and minds its
 * lease: it asks for more time while it works, and stops when it got none.
 */
public final class PullWorker implements AutoCloseable {

  private static final int THREADS = 3;
  private static final int LEASE_SECONDS = 3;
  private static final Duration MINE = Duration.ofMillis(2_400); // a fifth is for stopping
  private static final Duration TIMEOUT = Duration.ofSeconds(1);
  private static final Duration IDLE = Duration.ofMillis(250);
  private static final int PIECE_MILLIS = 400;
  private static final int TRIES = 5;

  private final HttpClient http = HttpClient.newBuilder().connectTimeout(TIMEOUT).build();
  private final String url;
  private final LedgerClient ledger;
  private final List<Thread> threads = new ArrayList<>();
  private volatile boolean closing;

  PullWorker(String url, Life life) {
    this.url = url;
    this.ledger = life.ledger();
    for (int i = 0; i < THREADS; i++) {
      String name = life.name() + "-" + i;
      threads.add(Thread.ofPlatform().start(() -> run(name)));
    }
  }

  public static void main(String[] args) throws IOException {
    Life life = Life.begin(args);
    life.goOn("ready", new PullWorker(args[2], life));
  }

  /** Lets each finish what it has. */
  @Override
  public void close() throws InterruptedException {
    closing = true;
    for (Thread thread : threads) {
      thread.join();
    }
  }

  private void run(String worker) {
    while (!closing) {
      try {
        long askedNanos = System.nanoTime();
        JsonNode job =
            Json.parse(
                    "answer", send(worker, "GET", "pull_job?lease_sec=" + LEASE_SECONDS, "").body())
                .path("job");
        if (job.isObject()) {
          new Attempt(worker, job, askedNanos).run();
        } else {
          Thread.sleep(IDLE);
        }
      } catch (IOException | RuntimeException e) {
        pause(); // the server is away, or what it said got lost
      } catch (InterruptedException e) {
        return; // nobody does that
      }
    }
  }

  private static void pause() {
    try {
      Thread.sleep(IDLE);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private HttpResponse<String> send(String worker, String method, String path, String body)
      throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(url + "/api/" + path))
            .timeout(TIMEOUT)
            .header("X-Worker-Id", worker)
            .method(
                method, body.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(body));
    if (!body.isEmpty()) {
      request.header("Content-Type", "application/json");
    }
    HttpResponse<String> answer = http.send(request.build(), BodyHandlers.ofString());
    if (answer.statusCode() / 100 == 5) {
      throw new IOException("HTTP status " + answer.statusCode());
    }
    return answer;
  }

  /** One attempt at one job. */
  private final class Attempt {
    private final String worker;
    private final String job;
    private final long fence;
    private final int number;
    private final Chore chore;
    private long mineUntilNanos;

    private Attempt(String worker, JsonNode json, long askedNanos) {
      this.worker = worker;
      this.job = json.path("id").asString();
      this.fence = json.path("attempt_id").asLong();
      this.number = json.path("attempts").asInt();
      JsonNode payload = json.path("payload");
      List<String> resources = new ArrayList<>();
      payload.path("resources").forEach(name -> resources.add(name.asString()));
      this.chore =
          new Chore(
              resources,
              payload.path("millis").asInt(),
              payload.path("failures").asInt(),
              payload.path("stubborn").asBoolean());
      this.mineUntilNanos = askedNanos + MINE.toNanos();
    }

    private boolean isMine() {
      return System.nanoTime() < mineUntilNanos;
    }

    private void run() throws InterruptedException {
      if (!isMine()) {
        return; // the answer took too long
      }
      if (!says("start", " %d %d %s".formatted(number, fence, chore.listed()))) {
        writeInVain();
        return;
      }
      if (!work()) {
        if (!chore.stubborn()) {
          says("end", " " + fence + " late");
          return;
        }
        says("told", " " + fence);
      }
      if (number <= chore.failures()) {
        says("end", " " + fence + " failed");
        finish(body().put("error", "as it was told to"), "other");
      } else if (says("effect", " " + fence)) {
        says("end", " " + fence + " done");
        finish(body().put("done", true).put("idempotency_key", job + "-" + fence), "succeeded");
      } else {
        says("end", " " + fence + " refused");
        writeInVain();
      }
    }

    private boolean says(String verb, String more) {
      return ledger.says(verb + " " + job + more);
    }

    /** Whether it stayed ours. */
    private boolean work() throws InterruptedException {
      for (int left = chore.millis(); left > 0; left -= PIECE_MILLIS) {
        Thread.sleep(Math.min(left, PIECE_MILLIS));
        if (left > PIECE_MILLIS && !goesOn(left)) {
          return false;
        }
      }
      return isMine();
    }

    private boolean goesOn(int left) throws InterruptedException {
      long askedNanos = System.nanoTime();
      Optional<Boolean> taken =
          report(body().put("cursor", left + " ms left").put("extend_lease_sec", LEASE_SECONDS));
      if (taken.isPresent()) {
        tellAnswer(taken.get() ? "took" : "refused", "checkpoint");
        mineUntilNanos = taken.get() ? askedNanos + MINE.toNanos() : askedNanos;
      }
      return isMine();
    }

    private void writeInVain() throws InterruptedException {
      Optional<Boolean> taken = report(body().put("cursor", "late"));
      taken.ifPresent(took -> tellAnswer(took ? "took" : "refused", "checkpoint"));
      finish(body().put("done", true), "succeeded");
    }

    private void finish(ObjectNode end, String how) throws InterruptedException {
      for (int i = 0; i < TRIES; i++) {
        Optional<Boolean> taken = report(end);
        if (taken.isPresent()) {
          tellAnswer(taken.get() ? "took" : "refused", "finish " + how);
          return;
        }
        pause();
      }
    }

    private ObjectNode body() {
      return Json.object().put("job_id", job).put("attempt_id", fence);
    }

    /** Whether the server took it; empty when nobody knows. */
    private Optional<Boolean> report(ObjectNode body) throws InterruptedException {
      try {
        return Optional.of(
            send(worker, "POST", "report_results", Json.write(body)).statusCode() == 200);
      } catch (IOException e) {
        return Optional.empty();
      }
    }

    private void tellAnswer(String answer, String what) {
      var unused = ledger.tell("holdfast-%s %s %d %s".formatted(answer, job, fence, what));
    }
  }
}
