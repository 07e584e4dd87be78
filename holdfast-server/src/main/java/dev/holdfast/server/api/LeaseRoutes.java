package dev.holdfast.server.api;

import static dev.holdfast.server.api.Routes.BASE;
import static dev.holdfast.server.http.Route.Method.POST;

import dev.holdfast.api.Fields;
import dev.holdfast.api.JobJson;
import dev.holdfast.api.Json;
import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.fleet.RemoteWorkers;
import dev.holdfast.fleet.WorkerInfo;
import dev.holdfast.job.Failure;
import dev.holdfast.job.Item;
import dev.holdfast.job.Job;
import dev.holdfast.job.Limits;
import dev.holdfast.job.Outcome;
import dev.holdfast.job.Payload;
import dev.holdfast.job.Policy;
import dev.holdfast.job.Progress;
import dev.holdfast.lease.ClaimRequest;
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
import dev.holdfast.server.poll.LongPolls;
import dev.holdfast.server.poll.Turnstile;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Leases, for workers in any language. */
final class LeaseRoutes {

  private static final Duration LONGEST_WAIT = Duration.ofSeconds(60);
  private static final int MOST_AT_ONCE = 1_000;

  private final LongPolls polls;
  private final RemoteWorkers workers;
  private final Turnstile turnstile;

  LeaseRoutes(LongPolls polls, RemoteWorkers workers, ServerConfig config) {
    this.polls = polls;
    this.workers = workers;
    this.turnstile = new Turnstile(config.longPolls());
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
                "acknowledge"),
        Route.of(
                POST,
                BASE + "/leases/start",
                Role.WORKER,
                "Says that dispatched jobs have started",
                this::start)
            .fields("worker", "leases"),
        Route.of(POST, BASE + "/leases/extend", Role.WORKER, "Renews leases", this::extend)
            .fields("worker", "leases", "lease_seconds"),
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
                "idempotency_key"),
        Route.of(
                POST,
                BASE + "/jobs/{id}/logs",
                Role.WORKER,
                "Adds to a running job's log",
                this::log)
            .fields("fence", "lines"));
  }

  private Answer claim(Request request) throws InterruptedException {
    Fields body = request.body();
    ClaimRequest asked = claimRequest(body);
    Duration wait = body.optionalSeconds("wait_seconds").orElse(Duration.ZERO);
    if (wait.isNegative() || wait.compareTo(LONGEST_WAIT) > 0) {
      throw HoldfastException.invalid("wait_seconds", wait, "0 to " + LONGEST_WAIT.toSeconds());
    }
    RemoteLeases leases = request.desk().leases();
    workers.seen(
        new WorkerInfo(
            asked.worker(),
            asked.host(),
            asked.labels(),
            Optional.of(request.desk().tenant().name().value()),
            asked.queues(),
            asked.kinds()));
    List<Lease> granted = leases.claim(asked).leases();
    if (granted.isEmpty()) { // before it says that there is nothing, it looks at everything
      granted = leases.claim(asked.thoroughly()).leases();
    }
    if (granted.isEmpty() && !wait.isZero()) {
      granted = await(request, leases, asked, wait);
    }
    ObjectNode json = Json.object();
    ArrayNode list = json.putArray("leases");
    // The jobs as they are now: one may have been asked to stop since, and its worker should know.
    Map<UUID, Job> jobs =
        request.desk().jobs().all(granted.stream().map(lease -> lease.key().jobId()).toList());
    for (Lease lease : granted) {
      Optional.ofNullable(jobs.get(lease.key().jobId()))
          .ifPresent(job -> list.add(lease(lease, job)));
    }
    return Answer.ok(json);
  }

  private List<Lease> await(Request request, RemoteLeases leases, ClaimRequest asked, Duration wait)
      throws InterruptedException {
    String who = request.principal().key();
    if (!turnstile.enter(who)) {
      throw Refusal.of(429, "TOO_MANY_LONG_POLLS", "more waits at once than a token may have");
    }
    try {
      return polls.await(request.desk().tenant().name(), leases, asked, wait);
    } finally {
      turnstile.leave(who);
    }
  }

  private static ClaimRequest claimRequest(Fields body) {
    Set<String> queues = new HashSet<>(body.texts("queues"));
    List<String> kinds = body.texts("kinds");
    ClaimRequest request =
        new ClaimRequest(
            body.text("worker"),
            queues,
            body.any("kinds").isPresent() ? Optional.of(new HashSet<>(kinds)) : Optional.empty(),
            body.optionalInt("limit").orElse(1),
            body.optionalText("host").orElse(""),
            body.textMap("labels"),
            body.optionalSeconds("lease_seconds"),
            body.optionalText("claim_id"),
            false,
            body.flag("acknowledge"));
    return request;
  }

  private static ObjectNode lease(Lease lease, Job job) {
    ObjectNode json = Json.object();
    json.set("job", JobJson.write(job, true));
    json.put("fence", lease.key().fence());
    Json.put(json, "expires_at", lease.expiresAt());
    json.put("lease_seconds", Json.seconds(lease.length()));
    return json;
  }

  private Answer start(Request request) {
    Fields body = request.body();
    RemoteLeases leases = request.desk().leases();
    return renewals(
        leases.start(Limits.name("worker", body.text("worker")), keys(leases, body)), "started");
  }

  private Answer extend(Request request) {
    Fields body = request.body();
    RemoteLeases leases = request.desk().leases();
    Optional<Duration> length = body.optionalSeconds("lease_seconds");
    length.ifPresent(seconds -> Policy.checkLease("lease_seconds", seconds));
    return renewals(
        leases.extend(Limits.name("worker", body.text("worker")), keys(leases, body), length),
        "extended");
  }

  private static List<LeaseKey> keys(RemoteLeases leases, Fields body) {
    return atMost("leases", body.objects("leases")).stream()
        .map(each -> each.only(Set.of("job_id", "fence")))
        .map(each -> leases.key(each.uuid("job_id"), each.number("fence")))
        .toList();
  }

  private static List<Fields> atMost(String field, List<Fields> list) {
    if (list.size() > MOST_AT_ONCE) {
      throw HoldfastException.invalid(field, list.size(), "at most " + MOST_AT_ONCE);
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
      renewal.expiresAt().ifPresent(at -> result.put("expires_at", at.toString()));
    }
    return Answer.ok(json);
  }

  private Answer finish(Request request) {
    Fields body = request.body();
    String worker = Limits.name("worker", body.text("worker"));
    List<End> ends =
        atMost("results", body.objects("results")).stream().map(LeaseRoutes::end).toList();
    List<FinishReply> replies = request.desk().leases().finish(worker, ends);
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

  private static End end(Fields said) {
    said.only(
        Set.of(
            "job_id",
            "fence",
            "outcome",
            "result",
            "error_code",
            "error_message",
            "retryable",
            "delay_seconds",
            "log_excerpt"));
    return new End(
        said.uuid("job_id"), said.number("fence"), outcome(said), said.optionalText("log_excerpt"));
  }

  private static Outcome outcome(Fields said) {
    String outcome = said.text("outcome");
    return switch (outcome.toLowerCase(Locale.ROOT)) {
      case "succeeded" ->
          Outcome.succeeded(
              said.any("result").map(json -> new Payload(Json.write(json))).orElse(Payload.NULL));
      case "failed" ->
          Outcome.failed(
              new Failure(
                  said.optionalText("error_code").orElse(Failure.HANDLER_FAILED),
                  said.optionalText("error_message").orElse("The worker said no more"),
                  said.optionalBoolean("retryable").orElse(true),
                  Optional.empty()));
      case "stopped" -> new Outcome.Stopped();
      case "released" -> new Outcome.Released("handed back by its worker");
      case "snoozed" ->
          Outcome.snoozed(said.optionalSeconds("delay_seconds").orElse(Duration.ZERO));
      default ->
          throw HoldfastException.invalid(
              "results.outcome", outcome, "succeeded, failed, stopped, released, snoozed");
    };
  }

  private Answer progress(Request request) {
    Fields body = request.body();
    long fence = body.number("fence");
    Progress progress =
        new Progress(
            body.optionalText("cursor"),
            number(body, "progress_count"),
            number(body, "result_count"),
            body.optionalDouble("percent").map(OptionalDouble::of).orElse(OptionalDouble.empty()),
            body.optionalText("message"));
    Optional<Fields> usage = body.optionalObject("usage");
    usage.ifPresent(used -> used.only(Set.of("tokens", "input_tokens", "output_tokens")));
    long input = usage.flatMap(used -> used.optionalNumber("input_tokens")).orElse(0L);
    long output = usage.flatMap(used -> used.optionalNumber("output_tokens")).orElse(0L);
    long either = usage.flatMap(used -> used.optionalNumber("tokens")).orElse(0L);
    Report report =
        new Report(
            progress,
            List.of(),
            Math.addExact(input, either),
            output,
            items(body),
            body.optionalText("idempotency_key"));
    return reported(request, fence, report);
  }

  private static OptionalLong number(Fields body, String name) {
    return body.optionalNumber(name).map(OptionalLong::of).orElse(OptionalLong.empty());
  }

  private static List<Item> items(Fields body) {
    List<Item> items = new ArrayList<>();
    body.objects("items")
        .forEach(
            item -> items.add(new Item(item.text("key"), new Payload(Json.write(item.json())))));
    return items;
  }

  private Answer log(Request request) {
    Fields body = request.body();
    List<String> lines = body.texts("lines");
    if (lines.size() > Limits.LOG_LINES_PER_REPORT) {
      throw HoldfastException.invalid(
          "lines", lines.size() + " lines", "at most " + Limits.LOG_LINES_PER_REPORT);
    }
    return reported(request, body.number("fence"), Report.ofLog(lines));
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
        throw Refusal.of(
            409,
            ErrorCode.LEASE_LOST.name(),
            "job " + id + " is no longer leased under that fence");
      }
    };
  }
}
