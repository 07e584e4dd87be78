package dev.holdfast.chaos.fleet;

import dev.holdfast.api.Json;
import dev.holdfast.chaos.fleet.MindedAttempt.Grant;
import dev.holdfast.chaos.ledger.LedgerClient;
import dev.holdfast.chaos.load.Chore;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
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

  private final Wire wire;
  private final LedgerClient ledger;
  private final Hands hands;

  PullWorker(String url, Life life) {
    this.wire = new Wire(url);
    this.ledger = life.ledger();
    this.hands = new Hands(THREADS, life.name(), worker -> () -> pull(worker));
  }

  public static void main(String[] args) throws IOException {
    Life life = Life.begin(args);
    life.goOn("ready", new PullWorker(args[2], life));
  }

  @Override
  public void close() throws InterruptedException {
    hands.close();
  }

  private boolean pull(String worker) throws IOException, InterruptedException {
    long askedNanos = System.nanoTime();
    String path = "pull_job?lease_sec=" + MindedAttempt.LEASE_SECONDS;
    JsonNode job = Json.parse("answer", send(worker, "GET", path, "").body()).path("job");
    if (!job.isObject()) {
      return false;
    }
    new Attempt(worker, job, askedNanos).run();
    return true;
  }

  private HttpResponse<String> send(String worker, String method, String path, String body)
      throws IOException, InterruptedException {
    HttpRequest.Builder request =
        wire.to("/api/" + path)
            .header("X-Worker-Id", worker)
            .method(
                method, body.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(body));
    if (!body.isEmpty()) {
      request.header("Content-Type", "application/json");
    }
    return wire.send(request);
  }

  private static Grant grant(JsonNode job) {
    return new Grant(
        job.path("id").asString(), job.path("attempt_id").asLong(), job.path("attempts").asInt());
  }

  private static Chore chore(JsonNode payload) {
    List<String> resources = new ArrayList<>();
    payload.path("resources").forEach(name -> resources.add(name.asString()));
    return new Chore(
        resources,
        payload.path("millis").asInt(),
        payload.path("failures").asInt(),
        payload.path("stubborn").asBoolean());
  }

  private final class Attempt extends MindedAttempt {
    private final String worker;

    private Attempt(String worker, JsonNode job, long askedNanos) {
      super(ledger, PullWorker.grant(job), PullWorker.chore(job.path("payload")), askedNanos);
      this.worker = worker;
    }

    @Override
    Optional<Boolean> reportProgress(int leftMillis) throws InterruptedException {
      return report(
          body().put("cursor", leftMillis + " ms left").put("extend_lease_sec", LEASE_SECONDS));
    }

    @Override
    Optional<Boolean> reportSuccess() throws InterruptedException {
      String key = grant.job() + "-" + grant.fence();
      return report(body().put("done", true).put("idempotency_key", key));
    }

    @Override
    Optional<Boolean> reportFailure() throws InterruptedException {
      return report(body().put("error", "as it was told to"));
    }

    @Override
    Optional<Boolean> reportProgressInVain() throws InterruptedException {
      return report(body().put("cursor", "late"));
    }

    @Override
    Optional<Boolean> reportSuccessInVain() throws InterruptedException {
      return report(body().put("done", true));
    }

    private ObjectNode body() {
      return Json.object().put("job_id", grant.job()).put("attempt_id", grant.fence());
    }

    private Optional<Boolean> report(ObjectNode body) throws InterruptedException {
      try {
        return Optional.of(
            send(worker, "POST", "report_results", Json.write(body)).statusCode() == 200);
      } catch (IOException e) {
        return Optional.empty();
      }
    }
  }
}
