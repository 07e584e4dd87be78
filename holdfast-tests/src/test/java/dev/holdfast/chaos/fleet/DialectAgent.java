package dev.holdfast.chaos.fleet;

import dev.holdfast.api.Json;
import dev.holdfast.chaos.fleet.MindedAttempt.Grant;
import dev.holdfast.chaos.ledger.LedgerClient;
import dev.holdfast.chaos.load.Chore;
import java.io.IOException;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
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

  /** What the setting of the lease must be, in seconds. */
  public static final int LEASE_SECONDS = MindedAttempt.LEASE_SECONDS;

  private final Wire wire;
  private final LedgerClient ledger;
  private final Hands hands;

  DialectAgent(String url, Life life) {
    this.wire = new Wire(url);
    this.ledger = life.ledger();
    this.hands = new Hands(THREADS, life.name(), Asking::new);
  }

  public static void main(String[] args) throws IOException {
    Life life = Life.begin(args);
    life.goOn("ready", new DialectAgent(args[2], life));
  }

  @Override
  public void close() throws InterruptedException {
    hands.close();
  }

  // A report that nobody answered may arrive after all, and would count for whatever the same agent
  // has then: there is no fence. So who does not know goes on under another name.
  private final class Asking implements Hands.Hand {
    private final String thread;
    private int names;

    private Asking(String thread) {
      this.thread = thread;
    }

    @Override
    public boolean foundWork() throws IOException, InterruptedException {
      String worker = thread + "." + names;
      long askedNanos = System.nanoTime();
      HttpResponse<String> answer = post("/api/agent/next-job", body(worker));
      if (answer.statusCode() != 200) {
        HttpResponse<String> unused = post("/api/agent/heartbeat", body(worker));
        return false;
      }
      JsonNode payload = Json.parse("payload", answer.body());
      Optional<Grant> grant = grant(worker, payload.path("job_id").asString());
      if (grant.isPresent()) {
        Chore chore = Chore.ofVariables(payload.path("env"));
        Attempt attempt = new Attempt(worker, grant.get(), chore, askedNanos);
        attempt.run();
        names += attempt.unanswered ? 1 : 0;
      }
      return true;
    }
  }

  private static ObjectNode body(String worker) {
    return Json.object().put("worker_id", worker);
  }

  private HttpResponse<String> post(String path, ObjectNode body)
      throws IOException, InterruptedException {
    return wire.send(wire.to(path).POST(BodyPublishers.ofString(Json.write(body))));
  }

  /** What we were given; empty when it is no longer ours. */
  private Optional<Grant> grant(String worker, String job)
      throws IOException, InterruptedException {
    HttpResponse<String> answer = wire.send(wire.to("/api/v1/jobs/" + job));
    JsonNode json = Json.parse("job", answer.body());
    JsonNode lease = json.path("lease");
    return lease.path("owner").asString("").equals(worker)
        ? Optional.of(new Grant(job, lease.path("fence").asLong(), json.path("attempt").asInt()))
        : Optional.empty();
  }

  private final class Attempt extends MindedAttempt {
    private final String worker;
    private boolean unanswered;

    private Attempt(String worker, Grant grant, Chore chore, long askedNanos) {
      super(ledger, grant, chore, askedNanos);
      this.worker = worker;
    }

    @Override
    boolean begins() throws InterruptedException {
      return goesOn(chore.millis());
    }

    @Override
    Optional<Boolean> reportProgress(int leftMillis) throws InterruptedException {
      return report("running");
    }

    @Override
    Optional<Boolean> reportSuccess() throws InterruptedException {
      return report("finished");
    }

    @Override
    Optional<Boolean> reportFailure() {
      throw new IllegalStateException("no container's chore is told to fail");
    }

    @Override
    Optional<Boolean> reportProgressInVain() throws InterruptedException {
      return report("running");
    }

    @Override
    Optional<Boolean> reportSuccessInVain() throws InterruptedException {
      return report("finished");
    }

    private Optional<Boolean> report(String status) throws InterruptedException {
      try {
        ObjectNode body = body(worker).put("job_id", grant.job()).put("status", status);
        return Optional.of(post("/api/agent/job-status", body).statusCode() == 200);
      } catch (IOException e) {
        unanswered = true;
        return Optional.empty();
      }
    }
  }
}
