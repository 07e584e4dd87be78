package dev.holdfast.server.api;

import static dev.holdfast.server.api.Routes.BASE;
import static dev.holdfast.server.http.Route.Method.GET;
import static dev.holdfast.server.http.Route.Method.POST;

import dev.holdfast.api.Fields;
import dev.holdfast.api.Json;
import dev.holdfast.api.ReportJson;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Job;
import dev.holdfast.lease.RemoteLeases;
import dev.holdfast.lease.Report;
import dev.holdfast.lease.ReportReply;
import dev.holdfast.server.auth.Role;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Request;
import dev.holdfast.server.http.Route;
import dev.holdfast.server.tenancy.Runbooks;
import java.util.List;
import java.util.UUID;
import tools.jackson.databind.node.ObjectNode;

/** Routes for the holder of a lease: reports about the running job, and its runbook. */
final class ReportRoutes {

  List<Route> routes() {
    return List.of(
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

  private Answer progress(Request request) {
    Fields body = request.body();
    return reported(request, body.number("fence"), ReportJson.read(body));
  }

  private Answer log(Request request) {
    Fields body = request.body();
    long fence = body.number("fence");
    if (body.any("lines").isEmpty()) {
      throw body.missing("lines", "a list of texts");
    }
    return reported(request, fence, Report.ofLog(ReportJson.lines(body)));
  }

  /** Only for the holder of the lease: not every worker needs to know how every node is reached. */
  private Answer runbook(Request request) {
    long fence =
        request
            .number("fence")
            .orElseThrow(() -> HoldfastException.invalid("fence", "missing", "the lease's"));
    Job job = JobRoutes.job(request, request.id());
    if (job.lease().isEmpty() || job.fence() != fence) {
      throw NotLeased.lost(job.id());
    }
    return Answer.ok(RunbookJson.write(Runbooks.of(request.services(), job)));
  }

  private static Answer reported(Request request, long fence, Report report) {
    UUID id = request.id();
    RemoteLeases leases = request.services().leases();
    return switch (leases.report(leases.key(id, fence), report)) {
      case ReportReply.Stored stored -> {
        ObjectNode json =
            Json.object().put("added", stored.added()).put("duplicates", stored.duplicates());
        stored.ended().ifPresent(state -> json.put("state", state.stored()));
        yield Answer.ok(json);
      }
      case ReportReply.Repeated() -> Answer.ok(Json.object().put("idempotent", true));
      case ReportReply.Lost() -> {
        throw NotLeased.of(JobRoutes.job(request, id), fence); // or NOT_FOUND, if there is none
      }
    };
  }
}
