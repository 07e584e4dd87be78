package dev.holdfast.server.api;

import static dev.holdfast.server.api.Routes.BASE;
import static dev.holdfast.server.http.Route.Method.POST;

import dev.holdfast.api.Fields;
import dev.holdfast.api.Json;
import dev.holdfast.api.LeaseJson;
import dev.holdfast.api.OutcomeJson;
import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.fleet.RemoteWorkers;
import dev.holdfast.fleet.WorkerInfo;
import dev.holdfast.job.Job;
import dev.holdfast.job.Limits;
import dev.holdfast.job.Policy;
import dev.holdfast.lease.ClaimRequest;
import dev.holdfast.lease.Extension.Status;
import dev.holdfast.lease.FinishReply;
import dev.holdfast.lease.Lease;
import dev.holdfast.lease.LeaseKey;
import dev.holdfast.lease.RemoteLeases;
import dev.holdfast.lease.RemoteLeases.End;
import dev.holdfast.lease.RemoteLeases.Renewal;
import dev.holdfast.server.ServerConfig;
import dev.holdfast.server.auth.Role;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Refusal;
import dev.holdfast.server.http.Request;
import dev.holdfast.server.http.Route;
import dev.holdfast.server.poll.ConcurrencyLimit;
import dev.holdfast.server.poll.Finishes;
import dev.holdfast.server.poll.LeaseDelivery;
import dev.holdfast.server.poll.LongPolls;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Routes for leases, for workers in any language. */
final class LeaseRoutes {

  private static final Duration LONGEST_WAIT = Duration.ofSeconds(60);
  private static final Duration PAUSE = Duration.ofMillis(500);

  private final LongPolls polls;
  private final Finishes finishes = new Finishes();
  private final RemoteWorkers workers;
  private final ConcurrencyLimit limit;

  LeaseRoutes(LongPolls polls, RemoteWorkers workers, ServerConfig config) {
    this.polls = polls;
    this.workers = workers;
    this.limit = new ConcurrencyLimit(config.limits().longPolls());
  }

  List<Route> routes() {
    return List.of(
        Route.of(
                POST,
                BASE + "/leases",
                Role.WORKER,
                "Asks for jobs, and waits for them",
                this::claim)
            .fields(
                "worker",
                "queues",
                "kinds",
                "limit",
                "wait_seconds",
                "lease_seconds",
                "claim_id",
                "labels",
                "host",
                "acknowledge")
            .waiting(),
        Route.of(
                POST,
                BASE + "/leases/start",
                Role.WORKER,
                "Says that dispatched jobs have started",
                this::start)
            .fields("worker", "leases"),
        Route.of(POST, BASE + "/leases/extend", Role.WORKER, "Renews leases", this::extend)
            .fields("worker", "leases", "lease_seconds")
            .urgent(),
        Route.of(
                POST, BASE + "/leases/finish", Role.WORKER, "Says how attempts ended", this::finish)
            .fields("worker", "results"));
  }

  private Answer claim(Request request) throws InterruptedException {
    Fields body = request.body();
    ClaimRequest asked = LeaseJson.readClaim(body);
    Duration wait = body.optionalSeconds("wait_seconds").orElse(Duration.ZERO);
    if (wait.compareTo(LONGEST_WAIT) > 0) {
      throw HoldfastException.invalid("wait_seconds", wait, "0 to " + LONGEST_WAIT.toSeconds());
    }
    asked.queues().forEach(queue -> Reserved.check("queues", queue));
    WorkerInfo worker =
        new WorkerInfo(
            asked.worker(),
            asked.host(),
            asked.labels(),
            Optional.of(request.services().tenant().name().value()),
            asked.queues(),
            asked.kinds());
    boolean unused = workers.seen(worker); // it is served, listed or not
    if (workers.isDraining(request.services().tenant().name(), worker.name())) {
      return counted(request, () -> drained(request, worker, wait));
    }
    // A request that can wait makes no claim of its own, not even at first: there may be a
    // thousand.
    LeaseDelivery delivery =
        wait.isZero()
            ? LeaseDelivery.claim(request.services().leases(), asked.thoroughly())
            : await(request, asked, wait, worker);
    return delivery.deliver(request.services().jobs(), LeaseRoutes::leases);
  }

  private static Answer leases(Map<Lease, Job> granted) {
    ObjectNode json = Json.object();
    ArrayNode list = json.putArray("leases");
    granted.forEach((lease, job) -> list.add(LeaseJson.write(lease, job)));
    return Answer.ok(json);
  }

  private interface Wait<T> {
    T run() throws InterruptedException;
  }

  private <T> T counted(Request request, Wait<T> wait) throws InterruptedException {
    String who = request.principal().key();
    if (!limit.enter(who)) {
      throw Refusal.of(429, "TOO_MANY_LONG_POLLS", "more waits at once than a token may have");
    }
    try {
      return wait.run();
    } finally {
      limit.leave(who);
    }
  }

  // Waits as if there were no jobs; otherwise the worker would ask again without a pause.
  private Answer drained(Request request, WorkerInfo worker, Duration wait)
      throws InterruptedException {
    long began = System.nanoTime();
    while (System.nanoTime() - began < wait.toNanos()
        && !request.isAbandoned()
        && workers.isDraining(request.services().tenant().name(), worker.name())
        && request.pause(PAUSE)) {
      boolean unused = workers.seen(worker);
    }
    ObjectNode json = Json.object();
    json.putArray("leases");
    return Answer.ok(json.put("drain", true));
  }

  private LeaseDelivery await(Request request, ClaimRequest asked, Duration wait, WorkerInfo worker)
      throws InterruptedException {
    LongPolls.Caller caller =
        new LongPolls.Caller() {
          @Override
          public void stillWaits() {
            boolean unused = workers.seen(worker);
          }

          @Override
          public boolean isGone() {
            return request.isAbandoned();
          }
        };
    return counted(request, () -> polls.await(request.services(), asked, wait, caller));
  }

  private Answer start(Request request) {
    Fields body = request.body();
    RemoteLeases leases = request.services().leases();
    return renewals(leases.start(worker(request, body), keys(leases, body)), "started");
  }

  private Answer extend(Request request) {
    Fields body = request.body();
    RemoteLeases leases = request.services().reserved().leases();
    Optional<Duration> length = body.optionalSeconds("lease_seconds");
    length.ifPresent(seconds -> Policy.checkLease("lease_seconds", seconds));
    return renewals(leases.extend(worker(request, body), keys(leases, body), length), "extended");
  }

  /** The worker that sends the request, which also proves that it is alive. */
  private String worker(Request request, Fields body) {
    String worker = Limits.name("worker", body.text("worker"));
    workers.spoke(request.services().tenant().name(), worker);
    return worker;
  }

  private static List<LeaseKey> keys(RemoteLeases leases, Fields body) {
    return atMost("leases", body.requiredObjects("leases")).stream()
        .map(each -> each.only(Set.of("job_id", "fence")))
        .map(each -> leases.key(each.uuid("job_id"), each.number("fence")))
        .toList();
  }

  private static List<Fields> atMost(String field, List<Fields> list) {
    if (list.size() > Limits.CLAIM_JOBS) {
      throw HoldfastException.invalid(field, list.size(), "at most " + Limits.CLAIM_JOBS);
    }
    return list;
  }

  private static Answer renewals(List<Renewal> renewals, String word) {
    ObjectNode json = Json.object();
    ArrayNode results = json.putArray("results");
    for (Renewal renewal : renewals) {
      ObjectNode result = results.addObject();
      result.put("job_id", renewal.key().jobId().toString());
      result.put(
          "status",
          switch (renewal.status()) {
            case EXTENDED, BUSY -> word; // busy: still leased; the next request renews it
            case STOP_REQUESTED -> "stop_requested";
            case LOST -> "lost";
          });
      if (renewal.status() == Status.BUSY) {
        result.put("busy", true); // so its expiry is unchanged
      }
      renewal.expiresAt().ifPresent(at -> result.put("expires_at", at.toString()));
    }
    return Answer.ok(json);
  }

  private Answer finish(Request request) {
    Fields body = request.body();
    String worker = worker(request, body);
    List<End> ends =
        atMost("results", body.requiredObjects("results")).stream()
            .map(said -> said.read(one -> end(one, worker)))
            .toList();
    List<FinishReply> replies = finishes.finish(request.services(), ends);
    ObjectNode json = Json.object();
    ArrayNode results = json.putArray("results");
    for (int i = 0; i < ends.size(); i++) {
      ObjectNode result = results.addObject();
      result.put("job_id", ends.get(i).jobId().toString());
      switch (replies.get(i)) {
        case FinishReply.Recorded(var state) ->
            result.put("status", "recorded").put("state", state.stored());
        case FinishReply.Lost() -> result.put("status", "lost");
        // The client repeats the request: until another worker gets the job, its fence is valid.
        case FinishReply.NotNow(var why) ->
            throw new HoldfastException(ErrorCode.DATABASE, String.valueOf(why));
      }
    }
    return Answer.ok(json);
  }

  private static End end(Fields said, String worker) {
    return new End(
        worker,
        said.uuid("job_id"),
        said.number("fence"),
        OutcomeJson.read(said, worker),
        said.optionalText("log_excerpt"));
  }
}
