package dev.holdfast.server.api;

import static dev.holdfast.server.api.Routes.BASE;
import static dev.holdfast.server.http.Route.Method.GET;
import static dev.holdfast.server.http.Route.Method.POST;

import dev.holdfast.api.Fields;
import dev.holdfast.api.Json;
import dev.holdfast.api.LeaseJson;
import dev.holdfast.api.OutcomeJson;
import dev.holdfast.api.ReportJson;
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
import dev.holdfast.lease.Report;
import dev.holdfast.lease.ReportReply;
import dev.holdfast.server.ServerConfig;
import dev.holdfast.server.auth.Role;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Refusal;
import dev.holdfast.server.http.Request;
import dev.holdfast.server.http.Route;
import dev.holdfast.server.poll.Finishes;
import dev.holdfast.server.poll.Hand;
import dev.holdfast.server.poll.LongPolls;
import dev.holdfast.server.poll.Turnstile;
import dev.holdfast.server.tenancy.Runbooks;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Leases, for workers in any language. */
final class LeaseRoutes {

  private static final Duration LONGEST_WAIT = Duration.ofSeconds(60);
  private static final Duration PAUSE = Duration.ofMillis(500);

  private final LongPolls polls;
  private final Finishes finishes = new Finishes();
  private final RemoteWorkers workers;
  private final Turnstile turnstile;

  LeaseRoutes(LongPolls polls, RemoteWorkers workers, ServerConfig config) {
    this.polls = polls;
    this.workers = workers;
    this.turnstile = new Turnstile(config.limits().longPolls());
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
            .fields("worker", "results"),
        Route.of(
                POST,
                BASE + "/jobs/{id}/progress",
                Role.WORKER,
                "Stores how far a running job is",
                this::progress)
            .fields(
                "fence",
                "cursor",
                "progress_count",
                "result_count",
                "percent",
                "message",
                "usage",
                "items",
                "lines",
                "idempotency_key"),
        Route.of(
                POST,
                BASE + "/jobs/{id}/logs",
                Role.WORKER,
                "Adds to a running job's log",
                this::log)
            .fields("fence", "lines"),
        Route.of(
                GET,
                BASE + "/jobs/{id}/runbook",
                Role.WORKER,
                "What a leased job is run with: its kind's playbook, its node",
                this::runbook)
            .queries("fence"));
  }

  private Answer claim(Request request) throws InterruptedException {
    Fields body = request.body();
    ClaimRequest asked = LeaseJson.readClaim(body);
    Duration wait = body.optionalSeconds("wait_seconds").orElse(Duration.ZERO);
    if (wait.isNegative() || wait.compareTo(LONGEST_WAIT) > 0) {
      throw HoldfastException.invalid("wait_seconds", wait, "0 to " + LONGEST_WAIT.toSeconds());
    }
    asked.queues().forEach(queue -> Reserved.check("queues", queue));
    WorkerInfo worker =
        new WorkerInfo(
            asked.worker(),
            asked.host(),
            asked.labels(),
            Optional.of(request.desk().tenant().name().value()),
            asked.queues(),
            asked.kinds());
    workers.seen(worker);
    if (workers.isDraining(request.desk().tenant().name(), worker.name())) {
      return counted(request, () -> drained(request, worker, wait));
    }
    // Who can wait does not ask for itself, also not at first: there may be a thousand.
    Hand hand =
        wait.isZero()
            ? Hand.claim(request.desk().leases(), asked.thoroughly())
            : await(request, asked, wait, worker);
    return hand.deliver(request.desk().jobs(), LeaseRoutes::leases);
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
    if (!turnstile.enter(who)) {
      throw Refusal.of(429, "TOO_MANY_LONG_POLLS", "more waits at once than a token may have");
    }
    try {
      return wait.run();
    } finally {
      turnstile.leave(who);
    }
  }

  // Made to wait as if there were nothing, or it would ask without a pause.
  private Answer drained(Request request, WorkerInfo worker, Duration wait)
      throws InterruptedException {
    long began = System.nanoTime();
    while (System.nanoTime() - began < wait.toNanos()
        && !request.isAbandoned()
        && workers.isDraining(request.desk().tenant().name(), worker.name())) {
      Thread.sleep(PAUSE);
      workers.seen(worker);
    }
    ObjectNode json = Json.object();
    json.putArray("leases");
    return Answer.ok(json.put("drain", true));
  }

  private Hand await(Request request, ClaimRequest asked, Duration wait, WorkerInfo worker)
      throws InterruptedException {
    LongPolls.Caller caller =
        new LongPolls.Caller() {
          @Override
          public void stillWaits() {
            workers.seen(worker);
          }

          @Override
          public boolean isGone() {
            return request.isAbandoned();
          }
        };
    return counted(request, () -> polls.await(request.desk(), asked, wait, caller));
  }

  private Answer start(Request request) {
    Fields body = request.body();
    RemoteLeases leases = request.desk().leases();
    return renewals(leases.start(worker(request, body), keys(leases, body)), "started");
  }

  private Answer extend(Request request) {
    Fields body = request.body();
    RemoteLeases leases = request.desk().pulse().leases();
    Optional<Duration> length = body.optionalSeconds("lease_seconds");
    length.ifPresent(seconds -> Policy.checkLease("lease_seconds", seconds));
    return renewals(leases.extend(worker(request, body), keys(leases, body), length), "extended");
  }

  /** Who speaks, and so is there. */
  private String worker(Request request, Fields body) {
    String worker = Limits.name("worker", body.text("worker"));
    workers.spoke(request.desk().tenant().name(), worker);
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
            case EXTENDED, BUSY -> word; // busy: still theirs, and the next one will renew it
            case STOP_REQUESTED -> "stop_requested";
            case LOST -> "lost";
          });
      if (renewal.status() == Status.BUSY) {
        result.put("busy", true); // and so its end is what it was
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
            .map(said -> end(said, worker))
            .toList();
    List<FinishReply> replies = finishes.finish(request.desk(), ends);
    ObjectNode json = Json.object();
    ArrayNode results = json.putArray("results");
    for (int i = 0; i < ends.size(); i++) {
      ObjectNode result = results.addObject();
      result.put("job_id", ends.get(i).jobId().toString());
      switch (replies.get(i)) {
        case FinishReply.Recorded(var state) ->
            result.put("status", "recorded").put("state", state.stored());
        case FinishReply.Lost() -> result.put("status", "lost");
        // To be sent again: while nobody else got the job, its fence is good.
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

  private Answer progress(Request request) {
    Fields body = request.body();
    return reported(request, body.number("fence"), ReportJson.read(body));
  }

  private Answer log(Request request) {
    Fields body = request.body();
    return reported(request, body.number("fence"), Report.ofLog(ReportJson.lines(body)));
  }

  /**
   * For whoever has the lease alone: how a node is reached is nothing that every worker needs to
   * know of every node.
   */
  private Answer runbook(Request request) {
    long fence =
        request
            .number("fence")
            .orElseThrow(() -> HoldfastException.invalid("fence", "missing", "the lease's"));
    Job job = JobRoutes.job(request, request.id());
    if (job.lease().isEmpty() || job.fence() != fence) {
      throw lost(job.id());
    }
    return Answer.ok(RunbookJson.write(Runbooks.of(request.desk(), job)));
  }

  private static Refusal.Refused lost(UUID id) {
    return Refusal.of(
        409, ErrorCode.LEASE_LOST.name(), "job " + id + " is no longer leased under that fence");
  }

  private static Answer reported(Request request, long fence, Report report) {
    UUID id = request.id();
    RemoteLeases leases = request.desk().leases();
    return switch (leases.report(leases.key(id, fence), report)) {
      case ReportReply.Stored stored -> {
        ObjectNode json =
            Json.object().put("added", stored.added()).put("duplicates", stored.duplicates());
        stored.ended().ifPresent(state -> json.put("state", state.stored()));
        yield Answer.ok(json);
      }
      case ReportReply.Repeated() -> Answer.ok(Json.object().put("idempotent", true));
      case ReportReply.Lost() -> {
        JobRoutes.job(request, id); // an unknown one is not lost, but not found
        throw lost(id);
      }
    };
  }
}
