package dev.holdfast.server.dialect.agents;

import static dev.holdfast.server.http.Route.Method.POST;

import dev.holdfast.api.Fields;
import dev.holdfast.api.Json;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.fleet.FencelessAgents;
import dev.holdfast.fleet.RemoteWorkers;
import dev.holdfast.fleet.WorkerInfo;
import dev.holdfast.job.Limits;
import dev.holdfast.job.Placement;
import dev.holdfast.lease.FencelessReports.AgentReport;
import dev.holdfast.lease.Lease;
import dev.holdfast.server.auth.Role;
import dev.holdfast.server.dialect.agents.StatusReports.Said;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Request;
import dev.holdfast.server.http.Route;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** What agents ask and say. */
final class WorkRoutes {

  private static final String WORKER = "worker_id";
  private static final int DETAIL_CHARS = 16_384;

  private static final Answer NOTHING = new Answer(204, "application/json", "");

  private final AgentDialect dialect;
  private final RemoteWorkers workers;

  WorkRoutes(AgentDialect dialect, RemoteWorkers workers) {
    this.dialect = dialect;
    this.workers = workers;
  }

  List<Route> routes() {
    return List.of(
        Route.of(POST, "/api/agent/next-job", Role.WORKER, "Asks for a job", this::next)
            .fields(WORKER)
            .urgent(),
        Route.of(
                POST,
                "/api/agent/job-status",
                Role.WORKER,
                "Says how a job is getting on",
                this::report)
            .fields(
                "job_id",
                "status",
                WORKER,
                "container_id",
                "container_name",
                "exit_code",
                "error",
                "details")
            .urgent(),
        Route.of(POST, "/api/agent/heartbeat", Role.WORKER, "Says that it is there", this::beat)
            .fields(WORKER, "info")
            .urgent());
  }

  private Answer next(Request request) {
    String agent = dialect.host(WORKER, request.body().text(WORKER));
    AgentServices services = dialect.services(request);
    seen(request, agent);
    return services
        .dispatch()
        .next(agent)
        .deliver(given -> given.isEmpty() ? NOTHING : payload(services, given.getFirst()));
  }

  private static Answer payload(AgentServices services, Lease lease) {
    services.files().show(lease.key().jobId());
    Simulation simulation = Simulation.read(lease.args().json()).orElseThrow();
    Optional<String> host =
        services.jobs().find(lease.key().jobId()).map(AgentJob::placement).flatMap(Placement::host);
    return Answer.ok(Documents.payload(lease, simulation, host, services.shared().path()));
  }

  // For those who ask why a job does not run, and for the list of all workers.
  private void seen(Request request, String agent) {
    WorkerInfo worker =
        new WorkerInfo(
            agent,
            agent,
            Map.of(),
            Optional.of(request.services().tenant().name().value()),
            Set.of(Simulation.QUEUE),
            Optional.of(Set.of(Simulation.KIND)));
    boolean unused = workers.seen(worker); // it is served, listed or not
  }

  private Answer beat(Request request) {
    Fields body = request.body();
    String agent = dialect.host(WORKER, body.text(WORKER));
    Optional<String> info = body.any("info").map(Json::write).map(FencelessAgents::checkedInfo);
    seen(request, agent);
    dialect.services(request).dispatch().beat(agent, info);
    return Answer.ok(Json.object().put("ok", true));
  }

  private Answer report(Request request) {
    Fields body = request.body();
    String text = body.text("job_id");
    AgentStatus status =
        AgentStatus.named(body.text("status"))
            .orElseThrow(() ->
                HoldfastException.invalid(
                    "status",
                    Limits.cut(body.text("status"), 100),
                    "one of "
                        + List.of(AgentStatus.values()).stream().map(AgentStatus::word).toList()));
    Optional<String> worker = body.optionalText(WORKER).map(name -> Names.host(WORKER, name));
    AgentReport report = agentReport(status, body);
    UUID id = Names.id(text).orElseThrow(() -> StatusReports.notFound("of that id"));
    AgentServices services = dialect.services(request);
    // Without a name it is the owner's word, and so that one's sign of life.
    worker
        .or(() -> services.reports().owner(id))
        .filter(dialect.settings()::knows)
        .ifPresent(agent -> services.dispatch().beat(agent, Optional.empty()));
    AgentStatus now = services.reports().report(new Said(id, status, worker, report));
    ObjectNode json = Json.object().put("ok", true);
    json.put("status", now.word());
    return Answer.ok(json);
  }

  private static AgentReport agentReport(AgentStatus status, Fields body) {
    return new AgentReport(
        status.word(),
        name(body, "container_id"),
        name(body, "container_name"),
        exitCode(body),
        body.any("error").map(said -> text(said, Limits.ERROR_MESSAGE_CHARS)),
        body.any("details").map(WorkRoutes::details));
  }

  // An agent that has no container yet may say so by an empty name.
  private static Optional<String> name(Fields body, String field) {
    return body.optionalText(field)
        .filter(name -> !name.isEmpty())
        .map(name -> Limits.name(field, name));
  }

  // On some systems exit codes have 32 bits and no sign.
  private static Optional<Integer> exitCode(Fields body) {
    return body.optionalNumber("exit_code")
        .map(code -> {
          if (code < Integer.MIN_VALUE || code >= 1L << 32) {
            throw HoldfastException.invalid("exit_code", code, "a number of 32 bits");
          }
          return code.intValue();
        });
  }

  private static String text(JsonNode said, int chars) {
    return Limits.cut(said.isString() ? said.stringValue() : Json.write(said), chars);
  }

  // Too much is cut, because refusing it would lose the report itself. What is left is text, and
  // says that it is not the whole.
  private static String details(JsonNode said) {
    String json = Json.write(said);
    return json.length() <= DETAIL_CHARS
        ? json
        : Json.write(Json.object().put("cut", true).put("text", text(said, DETAIL_CHARS)));
  }
}
