package dev.holdfast.server.api;

import static dev.holdfast.server.api.Routes.BASE;
import static dev.holdfast.server.http.Route.Method.GET;
import static dev.holdfast.server.http.Route.Method.POST;

import dev.holdfast.api.Fields;
import dev.holdfast.api.HistoryJson;
import dev.holdfast.api.JobJson;
import dev.holdfast.api.JobQuery;
import dev.holdfast.api.Json;
import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Job;
import dev.holdfast.job.Limits;
import dev.holdfast.job.NewJob;
import dev.holdfast.queue.Enqueued;
import dev.holdfast.queue.JobPage;
import dev.holdfast.server.auth.Role;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Listing;
import dev.holdfast.server.http.Request;
import dev.holdfast.server.http.Route;
import java.io.IOException;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Routes that enqueue and show jobs. */
final class JobRoutes {

  private static final int MOST_AT_ONCE = 1_000;

  List<Route> routes() {
    return List.of(
        Route.of(POST, BASE + "/jobs", Role.SUBMITTER, "Enqueues a job", this::enqueue)
            .fields(JobSpec.fields()),
        Route.of(
                POST,
                BASE + "/jobs/batch",
                Role.SUBMITTER,
                "Enqueues up to 1000 jobs, all or none",
                this::enqueueAll)
            .fields("jobs"),
        Route.of(GET, BASE + "/jobs", Role.VIEWER, "Lists jobs, newest first", this::list)
            .queries(
                Stream.concat(JobQuery.NAMES.stream(), Stream.of("limit", "after"))
                    .toArray(String[]::new)),
        Route.of(GET, BASE + "/jobs/{id}", Role.VIEWER, "A job", this::get),
        Route.of(
                GET,
                BASE + "/jobs/{id}/attempts",
                Role.VIEWER,
                "Its attempts so far",
                this::attempts)
            .queries("limit", "after"),
        Route.of(GET, BASE + "/jobs/{id}/why", Role.VIEWER, "Why it is not running", this::why));
  }

  private Answer enqueue(Request request) {
    NewJob job = traced(request, new JobSpec(request).read(request.body()));
    Enqueued enqueued = request.services().jobs().enqueue(job);
    ObjectNode json = json(request, job(request, enqueued.id()));
    return enqueued.created() ? Answer.created(json) : Answer.ok(json);
  }

  /** The job with the request's trace, unless it has its own. */
  private static NewJob traced(Request request, NewJob job) {
    return job.policy().trace().isPresent() ? job : request.trace().map(job::withTrace).orElse(job);
  }

  private Answer enqueueAll(Request request) throws IOException {
    // A list by itself is accepted, too.
    List<Fields> said =
        request.json() instanceof ArrayNode list
            ? Fields.of("body", Json.object().set("jobs", list)).objects("jobs")
            : request.body().objects("jobs");
    if (said.isEmpty() || said.size() > MOST_AT_ONCE) {
      throw HoldfastException.invalid("jobs", said.size() + " jobs", "1 to " + MOST_AT_ONCE);
    }
    JobSpec spec = new JobSpec(request);
    List<NewJob> jobs =
        said.stream()
            .map(each -> traced(request, each.only(JobSpec.fields()).read(spec::read)))
            .toList();
    List<Enqueued> enqueued = request.services().jobs().enqueueAll(jobs);
    // Jobs that existed before may be larger than the request.
    return Listing.send(
        request,
        enqueued.stream().anyMatch(Enqueued::created) ? 201 : 200,
        "{\"jobs\":[",
        rows ->
            request
                .services()
                .jobs()
                .each(
                    enqueued.stream().map(Enqueued::id).toList(),
                    (job, place) ->
                        rows.accept(
                            json(request, job).put("created", enqueued.get(place).created()))));
  }

  private Answer list(Request request) {
    JobPage page =
        request
            .services()
            .jobs()
            .list(
                JobQuery.read(request::query),
                request.query("after").map(after -> Fields.uuid("after", after)),
                request.limit());
    ObjectNode json = Json.object();
    ArrayNode jobs = json.putArray("jobs");
    page.jobs().forEach(job -> jobs.add(json(request, job)));
    Json.put(json, "after", page.after());
    return Answer.ok(json);
  }

  private Answer get(Request request) {
    return Answer.ok(json(request, job(request, request.id())));
  }

  static Job job(Request request, UUID id) {
    return request
        .services()
        .jobs()
        .get(id)
        .orElseThrow(() -> new HoldfastException(ErrorCode.NOT_FOUND, "no job " + id));
  }

  /** Shows the arguments to callers that may enqueue or run jobs. */
  static ObjectNode json(Request request, Job job) {
    return JobJson.write(job, request.mayDo(Role.SUBMITTER) || request.mayDo(Role.WORKER));
  }

  private Answer attempts(Request request) {
    Job job = job(request, request.id());
    // Without a limit, nearly every job's attempts fit, for clients that do not know about pages.
    int limit = request.query("limit").isPresent() ? request.limit() : Limits.PAGE_ROWS;
    long after = request.number("after").orElse(0L);
    return Answer.ok(
        HistoryJson.writeAttempts(request.services().jobs().attempts(job.id(), after, limit)));
  }

  private Answer why(Request request) {
    return Answer.ok(HistoryJson.writeWhy(request.services().jobs().why(request.id())));
  }
}
