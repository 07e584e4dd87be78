package dev.holdfast.server.api;

import static dev.holdfast.server.api.Routes.BASE;
import static dev.holdfast.server.http.Route.Method.GET;
import static dev.holdfast.server.http.Route.Method.POST;

import dev.holdfast.Holdfast;
import dev.holdfast.api.Fields;
import dev.holdfast.api.Json;
import dev.holdfast.api.LeaseJson;
import dev.holdfast.audit.Act;
import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.fleet.RemoteWorkers;
import dev.holdfast.fleet.WorkerInfo;
import dev.holdfast.fleet.WorkerState;
import dev.holdfast.job.Payload;
import dev.holdfast.lease.ClaimRequest;
import dev.holdfast.server.auth.Role;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Refusal;
import dev.holdfast.server.http.Request;
import dev.holdfast.server.http.Route;
import dev.holdfast.subject.SubjectState;
import dev.holdfast.tenant.TenantName;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Routes for workers, and for the subjects of jobs. */
final class FleetRoutes {

  private static final int MOST_INFO_CHARS = 4_000;

  private final Holdfast holdfast;
  private final RemoteWorkers remote;

  FleetRoutes(Holdfast holdfast, RemoteWorkers remote) {
    this.holdfast = holdfast;
    this.remote = remote;
  }

  List<Route> routes() {
    return List.of(
        Route.of(GET, BASE + "/workers", Role.VIEWER, "Lists workers", this::workers)
            .queries("limit", "after"),
        Route.of(
                POST,
                BASE + "/workers/heartbeat",
                Role.WORKER,
                "Says that a worker is there, and how it is",
                this::heartbeat)
            .fields("worker", "host", "labels", "queues", "kinds", "info"),
        Route.of(
                POST,
                BASE + "/workers/{name}/drain",
                Role.OPERATOR,
                "Asks a worker to take nothing more",
                request -> drain(request, true))
            .fields("reason"),
        Route.of(
                POST,
                BASE + "/workers/{name}/resume",
                Role.OPERATOR,
                "Lets a drained worker take jobs again",
                request -> drain(request, false))
            .fields("reason"),
        Route.of(
            GET, BASE + "/subjects/{type}/{id}", Role.VIEWER, "Where a subject is", this::subject));
  }

  private Answer workers(Request request) {
    int limit = request.limit();
    List<WorkerState> workers =
        holdfast
            .workers()
            .list(request.services().tenant().name(), request.query("after").orElse(""), limit);
    Map<String, Long> active = request.services().jobs().leasedByWorker();
    ObjectNode json = Json.object();
    ArrayNode list = json.putArray("workers");
    workers.forEach(worker ->
        list.add(json(worker).put("active_jobs", active.getOrDefault(worker.info().name(), 0L))));
    json.put("after", workers.size() == limit ? workers.getLast().place() : null);
    return Answer.ok(json);
  }

  private Answer heartbeat(Request request) {
    Fields body = request.body();
    // Refuses whatever a claim refuses.
    ClaimRequest asked = LeaseJson.readClaim(body);
    Payload info =
        new Payload(Json.write(body.optionalObject("info").orElseGet(FleetRoutes::none).json()));
    if (info.json().length() > MOST_INFO_CHARS) {
      throw HoldfastException.invalid(
          "info", info.json().length() + " characters", "at most " + MOST_INFO_CHARS);
    }
    WorkerInfo worker =
        new WorkerInfo(
            asked.worker(),
            asked.host(),
            asked.labels(),
            Optional.of(request.services().tenant().name().value()),
            asked.queues(),
            asked.kinds());
    if (!remote.seen(worker, info)) {
      throw Refusal.of(
          429,
          "TOO_MANY_WORKERS",
          "worker is a new name, and this tenant has %d workers; one that is silent for a day is forgotten"
              .formatted(RemoteWorkers.MOST));
    }
    return Answer.ok(Json.object().put("ok", true));
  }

  private static Fields none() {
    return Fields.of("info", Json.object());
  }

  // Only the system role may drain a worker that serves all tenants.
  private Answer drain(Request request, boolean drain) {
    Act act = request.act(request.body());
    String name = request.path("name");
    TenantName tenant = request.services().tenant().name();
    boolean ofAll = request.mayDo(Role.SYSTEM);
    request
        .services()
        .tenant()
        .db()
        .useTransaction(handle -> {
          if (!holdfast.workers().drain(handle, tenant, name, ofAll, drain)) {
            throw new HoldfastException(ErrorCode.NOT_FOUND, "no worker " + name + " of " + tenant);
          }
          request
              .services()
              .audit()
              .write(handle, act, drain ? "drain" : "undrain", "worker:" + name, "", "");
        });
    return Answer.done();
  }

  private static ObjectNode json(WorkerState worker) {
    ObjectNode json = Json.object();
    json.put("name", worker.info().name());
    json.put("host", worker.info().host());
    ObjectNode labels = json.putObject("labels");
    worker.info().labels().forEach(labels::put);
    worker.info().queues().stream().sorted().forEach(json.putArray("queues")::add);
    worker
        .info()
        .kinds()
        .ifPresentOrElse(
            kinds -> kinds.stream().sorted().forEach(json.putArray("kinds")::add),
            () -> json.putNull("kinds"));
    json.put("online", worker.online());
    json.put("draining", worker.draining());
    worker
        .vitals()
        .ifPresentOrElse(vitals -> Json.put(json, "info", vitals), () -> json.putNull("info"));
    Json.put(json, "started_at", worker.startedAt());
    Json.put(json, "last_seen", worker.beatAt());
    return json;
  }

  private Answer subject(Request request) {
    String type = request.path("type");
    String id = request.path("id");
    SubjectState subject =
        request
            .services()
            .subjects()
            .get(type, id)
            .orElseThrow(
                () -> new HoldfastException(ErrorCode.NOT_FOUND, "no subject " + type + " " + id));
    ObjectNode json = Json.object();
    json.put("type", type);
    json.put("id", id);
    json.put("state", subject.state());
    json.put("job_id", subject.jobId().toString());
    Json.put(json, "updated_at", subject.updatedAt());
    return Answer.ok(json);
  }
}
