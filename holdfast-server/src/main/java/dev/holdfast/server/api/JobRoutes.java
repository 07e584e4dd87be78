package dev.holdfast.server.api;

import static dev.holdfast.server.api.Routes.BASE;
import static dev.holdfast.server.http.Route.Method.GET;
import static dev.holdfast.server.http.Route.Method.POST;

import dev.holdfast.api.Fields;
import dev.holdfast.api.JobJson;
import dev.holdfast.api.Json;
import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.AttemptRecord;
import dev.holdfast.job.Job;
import dev.holdfast.job.JobState;
import dev.holdfast.job.NewJob;
import dev.holdfast.queue.Enqueued;
import dev.holdfast.queue.JobFilter;
import dev.holdfast.queue.JobPage;
import dev.holdfast.queue.Why;
import dev.holdfast.server.auth.Role;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Request;
import dev.holdfast.server.http.Route;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Jobs: putting them in, and looking at them. */
final class JobRoutes {

  private static final int MOST_AT_ONCE = 1_000;

  static final String[] FILTERS = {
    "state", "queue", "kind", "target", "resource", "tag", "worker", "error"
  };

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
                "state",
                "queue",
                "kind",
                "target",
                "resource",
                "tag",
                "worker",
                "error",
                "limit",
                "after"),
        Route.of(GET, BASE + "/jobs/{id}", Role.VIEWER, "A job", this::get),
        Route.of(
            GET, BASE + "/jobs/{id}/attempts", Role.VIEWER, "Its attempts so far", this::attempts),
        Route.of(GET, BASE + "/jobs/{id}/why", Role.VIEWER, "Why it is not running", this::why));
  }

  private Answer enqueue(Request request) {
    NewJob job = JobSpec.read(request, request.body());
    Enqueued enqueued = request.desk().jobs().enqueue(job);
    ObjectNode json = json(request, job(request, enqueued.id()));
    return enqueued.created() ? Answer.created(json) : Answer.ok(json);
  }

  private Answer enqueueAll(Request request) {
    List<Fields> said = request.body().objects("jobs");
    if (said.isEmpty() || said.size() > MOST_AT_ONCE) {
      throw HoldfastException.invalid("jobs", said.size() + " jobs", "1 to " + MOST_AT_ONCE);
    }
    List<NewJob> jobs =
        said.stream().map(each -> JobSpec.read(request, each.only(JobSpec.fields()))).toList();
    List<Enqueued> enqueued = request.desk().jobs().enqueueAll(jobs);
    ObjectNode json = Json.object();
    ArrayNode list = json.putArray("jobs");
    Map<UUID, Job> stored = request.desk().jobs().all(enqueued.stream().map(Enqueued::id).toList());
    enqueued.stream()
        .map(each -> Optional.ofNullable(stored.get(each.id())))
        .flatMap(Optional::stream)
        .forEach(job -> list.add(json(request, job)));
    return Answer.created(json);
  }

  private Answer list(Request request) {
    JobPage page =
        request
            .desk()
            .jobs()
            .list(
                filter(request::query),
                request.query("after").map(after -> Fields.uuid("after", after)),
                request.limit());
    ObjectNode json = Json.object();
    ArrayNode jobs = json.putArray("jobs");
    page.jobs().forEach(job -> jobs.add(json(request, job)));
    Json.put(json, "after", page.after());
    return Answer.ok(json);
  }

  /** Which jobs are meant, by parameters or fields of these names. */
  static JobFilter filter(Function<String, Optional<String>> said) {
    return new JobFilter(
        said.apply("state").map(JobRoutes::states).orElse(Set.of()),
        said.apply("queue"),
        said.apply("kind"),
        said.apply("target"),
        said.apply("resource"),
        said.apply("tag"),
        said.apply("worker"),
        said.apply("error"));
  }

  private static Set<JobState> states(String names) {
    Set<JobState> states = EnumSet.noneOf(JobState.class);
    for (String name : names.split(",", -1)) {
      states.add(
          Arrays.stream(JobState.values())
              .filter(state -> state.stored().equals(name))
              .findFirst()
              .orElseThrow(() ->
                  HoldfastException.invalid(
                      "state",
                      name,
                      Arrays.stream(JobState.values()).map(JobState::stored).toList().toString())));
    }
    return states;
  }

  private Answer get(Request request) {
    return Answer.ok(json(request, job(request, request.id())));
  }

  static Job job(Request request, UUID id) {
    return request
        .desk()
        .jobs()
        .get(id)
        .orElseThrow(() -> new HoldfastException(ErrorCode.NOT_FOUND, "no job " + id));
  }

  /** With its arguments for those who may enqueue or run such jobs. */
  static ObjectNode json(Request request, Job job) {
    return JobJson.write(job, request.mayDo(Role.SUBMITTER) || request.mayDo(Role.WORKER));
  }

  private Answer attempts(Request request) {
    Job job = job(request, request.id());
    ObjectNode json = Json.object();
    ArrayNode list = json.putArray("attempts");
    request.desk().jobs().attempts(job.id()).forEach(attempt -> list.add(json(attempt)));
    return Answer.ok(json);
  }

  private static ObjectNode json(AttemptRecord attempt) {
    ObjectNode json = Json.object();
    json.put("attempt", attempt.number());
    json.put("fence", attempt.fence());
    json.put("worker", attempt.worker());
    json.put("outcome", attempt.outcome());
    Json.put(json, "started_at", attempt.startedAt());
    Json.put(json, "finished_at", attempt.finishedAt());
    Json.put(json, "error_code", attempt.errorCode());
    Json.put(json, "error_message", attempt.errorMessage());
    Json.put(json, "log_excerpt", attempt.logExcerpt());
    return json;
  }

  private Answer why(Request request) {
    Why why = request.desk().jobs().why(request.id());
    ObjectNode json = Json.object();
    json.put("reason", why.reason().stored());
    json.put("detail", why.detail());
    why.blockedBy()
        .ifPresent(by ->
            json.putObject("blocked_by")
                .put("resource", by.resource())
                .put("job_id", by.jobId().toString())
                .put("state", by.state())
                .put("since", by.since().toString()));
    return Answer.ok(json);
  }
}
