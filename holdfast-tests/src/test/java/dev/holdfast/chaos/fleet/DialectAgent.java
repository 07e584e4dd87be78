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
 * Asks for jobs as agents do by the agents' dialect, and minds its lease: it reports while it
 * works, and stops when nobody heard. What it is given has no fence: who it is stands in for that.
 * The ledger wants one all the same, so it is asked of the native API, and counts only if the job
 * is ours just then; from there on such a job is judged like all others.
 */
public final class DialectAgent implements AutoCloseable {

  private static final int THREADS = 2;
  private static final Duration MINE = Duration.ofMillis(2_400); // a fifth is for stopping
  private static final Duration TIMEOUT = Duration.ofSeconds(1);
  private static final Duration IDLE = Duration.ofMillis(250);
  private static final int PIECE_MILLIS = 400;
  private static final int TRIES = 5;

  /** What the setting of the lease must be, in seconds. */
  public static final int LEASE_SECONDS = 3;

  private final HttpClient http = HttpClient.newBuilder().connectTimeout(TIMEOUT).build();
  private final String url;
  private final LedgerClient ledger;
  private final List<Thread> threads = new ArrayList<>();
  private volatile boolean closing;

  DialectAgent(String url, Life life) {
    this.url = url;
    this.ledger = life.ledger();
    for (int i = 0; i < THREADS; i++) {
      String name = life.name() + "-" + i;
      threads.add(Thread.ofPlatform().start(() -> run(name)));
    }
  }

  public static void main(String[] args) throws IOException {
    Life life = Life.begin(args);
    life.goOn("ready", new DialectAgent(args[2], life));
  }

  /** Lets each finish what it has. */
  @Override
  public void close() throws InterruptedException {
    closing = true;
    for (Thread thread : threads) {
      thread.join();
    }
  }

  // A report that nobody answered may arrive after all, and would count for whatever the same agent
  // has then: there is no fence. So who does not know goes on under another name.
  private void run(String thread) {
    int names = 0;
    while (!closing) {
      String worker = thread + "." + names;
      try {
        long askedNanos = System.nanoTime();
        HttpResponse<String> answer = post("/api/agent/next-job", body(worker));
        if (answer.statusCode() == 200) {
          JsonNode payload = Json.parse("payload", answer.body());
          Optional<Grant> grant = grant(worker, payload.path("job_id").asString());
          if (grant.isPresent()) {
            Chore chore = Chore.ofVariables(payload.path("env"));
            Attempt attempt = new Attempt(worker, grant.get(), chore, askedNanos);
            attempt.run();
            names += attempt.unanswered ? 1 : 0;
          }
        } else {
          HttpResponse<String> unused = post("/api/agent/heartbeat", body(worker));
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

  private static ObjectNode body(String worker) {
    return Json.object().put("worker_id", worker);
  }

  private HttpResponse<String> post(String path, ObjectNode body)
      throws IOException, InterruptedException {
    return send(
        HttpRequest.newBuilder(URI.create(url + path))
            .POST(BodyPublishers.ofString(Json.write(body))));
  }

  private HttpResponse<String> send(HttpRequest.Builder request)
      throws IOException, InterruptedException {
    HttpResponse<String> answer =
        http.send(request.timeout(TIMEOUT).build(), BodyHandlers.ofString());
    if (answer.statusCode() / 100 == 5) {
      throw new IOException("HTTP status " + answer.statusCode());
    }
    return answer;
  }

  private record Grant(String job, long fence, int attempt) {}

  /** What we were given; empty when it is no longer ours. */
  private Optional<Grant> grant(String worker, String job)
      throws IOException, InterruptedException {
    HttpResponse<String> answer =
        send(HttpRequest.newBuilder(URI.create(url + "/api/v1/jobs/" + job)));
    JsonNode json = Json.parse("job", answer.body());
    JsonNode lease = json.path("lease");
    return lease.path("owner").asString("").equals(worker)
        ? Optional.of(new Grant(job, lease.path("fence").asLong(), json.path("attempt").asInt()))
        : Optional.empty();
  }

  /** One attempt at one job. */
  private final class Attempt {
    private final String worker;
    private final Grant grant;
    private final Chore chore;
    private long mineUntilNanos;
    private boolean unanswered;

    private Attempt(String worker, Grant grant, Chore chore, long askedNanos) {
      this.worker = worker;
      this.grant = grant;
      this.chore = chore;
      this.mineUntilNanos = askedNanos + MINE.toNanos();
    }

    private boolean isMine() {
      return System.nanoTime() < mineUntilNanos;
    }

    private void run() throws InterruptedException {
      if (!isMine()) {
        return; // the answers took too long
      }
      if (!says("start", "%d %d %s".formatted(grant.attempt, grant.fence, chore.listed()))) {
        reportInVain();
        return;
      }
      if (!work()) {
        if (!chore.stubborn()) {
          says("end", grant.fence + " late");
          return;
        }
        says("told", String.valueOf(grant.fence));
      }
      if (says("effect", String.valueOf(grant.fence))) {
        says("end", grant.fence + " done");
        finish();
      } else {
        says("end", grant.fence + " refused");
        reportInVain();
      }
    }

    private boolean says(String verb, String more) {
      return ledger.says("%s %s %s".formatted(verb, grant.job, more));
    }

    /** Whether it stayed ours. */
    private boolean work() throws InterruptedException {
      goOn();
      for (int left = chore.millis(); left > 0 && isMine(); left -= PIECE_MILLIS) {
        Thread.sleep(Math.min(left, PIECE_MILLIS));
        if (left > PIECE_MILLIS) {
          goOn();
        }
      }
      return isMine();
    }

    private void goOn() throws InterruptedException {
      long askedNanos = System.nanoTime();
      report("running")
          .ifPresent(taken -> {
            tellAnswer(taken, "checkpoint");
            mineUntilNanos = taken ? askedNanos + MINE.toNanos() : askedNanos;
          });
    }

    private void reportInVain() throws InterruptedException {
      report("running").ifPresent(taken -> tellAnswer(taken, "checkpoint"));
      finish();
    }

    private void finish() throws InterruptedException {
      for (int i = 0; i < TRIES; i++) {
        Optional<Boolean> taken = report("finished");
        if (taken.isPresent()) {
          tellAnswer(taken.get(), "finish succeeded");
          return;
        }
        pause();
      }
    }

    /** Whether the server took it; empty when nobody knows. */
    private Optional<Boolean> report(String status) throws InterruptedException {
      try {
        ObjectNode body = body(worker).put("job_id", grant.job).put("status", status);
        return Optional.of(post("/api/agent/job-status", body).statusCode() == 200);
      } catch (IOException e) {
        unanswered = true;
        return Optional.empty();
      }
    }

    private void tellAnswer(boolean taken, String what) {
      var unused =
          ledger.tell(
              "holdfast-%s %s %d %s"
                  .formatted(taken ? "took" : "refused", grant.job, grant.fence, what));
    }
  }
}
