package dev.holdfast.server.dialect.targets;

import static dev.holdfast.server.http.Route.Method.GET;
import static dev.holdfast.server.http.Route.Method.POST;

import dev.holdfast.api.Fields;
import dev.holdfast.api.Json;
import dev.holdfast.audit.Act;
import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Job;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Limits;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Payload;
import dev.holdfast.job.Policy.OnFailure;
import dev.holdfast.job.Policy.OnLeaseLost;
import dev.holdfast.job.Policy.OnStop;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.job.TimeLimit;
import dev.holdfast.queue.Acts;
import dev.holdfast.queue.CountedJobs;
import dev.holdfast.queue.JobFilter;
import dev.holdfast.server.api.JobSpec;
import dev.holdfast.server.auth.Role;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Listing;
import dev.holdfast.server.http.Refusal;
import dev.holdfast.server.http.Request;
import dev.holdfast.server.http.Route;
import dev.holdfast.server.tenancy.Setting;
import java.io.IOException;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import tools.jackson.databind.node.ObjectNode;

/** Jobs of targets, as their clients ask for them. Every path but one may end in a slash or not. */
public final class TargetRoutes {

  private static final String QUEUE = "targets";
  private static final String JOBS = "/targets/{target_id}/jobs/";
  private static final String JOB = JOBS + "{job_id}/";

  // The defaults of the dialect's own queue, for jobs in another one.
  private static final PolicyOverrides RULES =
      PolicyOverrides.NONE
          .withMaxAttempts(1)
          .withTimeout(TimeLimit.NONE)
          .withOnStop(OnStop.PAUSE)
          .withOnFailure(OnFailure.HOLD)
          .withOnLeaseLost(OnLeaseLost.FAIL);

  static final String INTERRUPTED = "Job was interrupted by user";
  private static final Set<JobState> WAITING = EnumSet.of(JobState.PENDING, JobState.QUEUED);
  private static final Set<JobState> LEASED =
      EnumSet.of(JobState.DISPATCHED, JobState.RUNNING, JobState.STOPPING);

  // A job may be claimed, or come back, between a look at it and an act; not often in a row.
  private static final int LOOKS = 5;

  public List<Route> routes() {
    Stream<Route> ofTargets =
        Stream.of(
            Route.of(POST, JOBS, Role.SUBMITTER, "Enqueues a target's job", this::enqueue)
                .fields("api_name", "parameters")
                .queries("queue"),
            Route.of(GET, JOBS, Role.VIEWER, "A target's jobs, newest first", this::ofTarget)
                .queries("limit", "offset"),
            Route.of(GET, JOB, Role.VIEWER, "A target's job", this::get),
            Route.of(POST, JOB + "interrupt/", Role.OPERATOR, "Stops or fails it", this::interrupt),
            Route.of(
                POST, JOB + "cancel/", Role.ADMIN, "Ends it before it was begun", this::cancel),
            Route.of(POST, JOB + "resume/", Role.OPERATOR, "Lets it run again", this::resume),
            Route.of(
                POST,
                JOB + "resolve/",
                Role.OPERATOR,
                "Somebody did by hand what it was to do: the body is its result",
                this::resolve),
            Route.of(GET, JOB + "logs/", Role.VIEWER, "What it logged last", this::logs)
                .queries("limit"));
    // Without the slash it is another system's.
    Route ofAll =
        Route.of(GET, "/jobs/", Role.VIEWER, "Jobs of all targets, newest first", this::list)
            .queries("limit", "offset", "status", "target_id", "api_name", "queue");
    return Stream.concat(
            ofTargets.flatMap(route -> route.withOrWithoutSlash().stream()), Stream.of(ofAll))
        .toList();
  }

  private Answer enqueue(Request request) {
    UUID target = request.id("target_id");
    Fields body = request.body();
    ObjectNode spec = Json.object();
    spec.put("kind", Limits.name("api_name", body.text("api_name")));
    spec.set("args", body.optionalObject("parameters").map(Fields::json).orElseGet(Json::object));
    spec.put("target", target.toString());
    String queue = queue(request);
    spec.put("queue", queue);
    NewJob job = new JobSpec(request).read(Fields.of("body", spec));
    if (!queue.equals(QUEUE)) { // whose defaults are another's
      job = job.withPolicy(job.policy().over(rules(request)));
    }
    UUID id = request.services().jobs().enqueue(job).id();
    return answer(request, find(request, target, id));
  }

  /** The rules, with the token limit that is in force now. */
  private static PolicyOverrides rules(Request request) {
    return request
        .services()
        .settings()
        .inForce(Setting.TOKEN_LIMIT)
        .map(RULES::withTokenLimit)
        .orElse(RULES);
  }

  private static String queue(Request request) {
    return request.query("queue").map(name -> Limits.name("queue", name)).orElse(QUEUE);
  }

  private Answer ofTarget(Request request) throws IOException {
    JobFilter filter = JobFilter.ALL.withTarget(request.id("target_id").toString());
    return Listing.send(request, TargetJson.jobs(request, page(request, filter).ids()));
  }

  private Answer list(Request request) throws IOException {
    JobFilter filter =
        JobFilter.ALL
            .withQueue(queue(request))
            .withStates(
                request
                    .query("status")
                    .map(status -> TargetStatus.parse(status).states())
                    .orElse(Set.of()));
    Optional<String> target =
        request.query("target_id").map(id -> Fields.uuid("target_id", id).toString());
    filter = target.map(filter::withTarget).orElse(filter);
    Optional<String> apiName = request.query("api_name");
    filter =
        apiName.map(name -> Limits.name("api_name", name)).map(filter::withKind).orElse(filter);
    CountedJobs page = page(request, filter);
    return Listing.send(
        request,
        200,
        "{\"total_count\":" + page.total() + ",\"jobs\":[",
        TargetJson.jobs(request, page.ids()));
  }

  private static CountedJobs page(Request request, JobFilter filter) {
    long offset = request.number("offset").orElse(0L);
    return request
        .services()
        .jobs()
        .onTargets(filter, Math.clamp(offset, -1, Integer.MAX_VALUE), request.limit());
  }

  private Answer get(Request request) {
    return answer(request, job(request));
  }

  private Answer interrupt(Request request) {
    for (int look = 0; look < LOOKS; look++) {
      Job job = job(request);
      try {
        return answer(request, interrupt(request, job));
      } catch (HoldfastException e) {
        if (e.code() != ErrorCode.STATE_CONFLICT) {
          throw e;
        }
      }
    }
    throw Refusal.of(503, "BUSY", "The job's state changes all the time; try again");
  }

  /** Does what its state asks for, if it is still in it. */
  private static Job interrupt(Request request, Job job) {
    Acts acts = request.services().acts();
    Act act = request.act().because(INTERRUPTED);
    return switch (TargetStatus.of(job.state())) {
      case PENDING, QUEUED -> acts.fail(job.id(), act.withForce().onlyIn(WAITING));
      // One that would be cancelled when stopped is paused: that is what interrupting means here.
      case RUNNING ->
          job.policy().onStop() == OnStop.PAUSE
              ? acts.stop(job.id(), act.onlyIn(LEASED))
              : acts.pause(job.id(), act.onlyIn(LEASED));
      case PAUSED, ERROR, SUCCESS, CANCELED -> throw refused("interrupt", job);
    };
  }

  private Answer cancel(Request request) {
    return act(
        request,
        "cancel",
        job -> request.services().acts().cancel(job.id(), request.act().onlyIn(WAITING)));
  }

  private Answer resume(Request request) {
    return act(request, "resume", job -> request.services().acts().resume(job.id(), request.act()));
  }

  private Answer resolve(Request request) {
    Payload result = new Payload(Json.write(Fields.of("result", request.json()).json()));
    return act(
        request,
        "resolve",
        job -> request.services().acts().resolve(job.id(), result, request.act()));
  }

  private Answer logs(Request request) {
    Job job = job(request);
    int limit = request.query("limit").isPresent() ? request.limit() : Limits.PAGE_ROWS;
    return Answer.ok(
        TargetJson.log(job.id(), request.services().jobs().logEntries(job.id(), limit)));
  }

  private interface Doing {
    Job perform(Job job);
  }

  private static Answer act(Request request, String what, Doing doing) {
    Job job = job(request);
    try {
      return answer(request, doing.perform(job));
    } catch (HoldfastException e) {
      if (e.code() != ErrorCode.STATE_CONFLICT) {
        throw e;
      }
      throw refused(what, find(request, request.id("target_id"), job.id()));
    }
  }

  private static Refusal.Refused refused(String what, Job job) {
    return Refusal.of(
        400,
        ErrorCode.STATE_CONFLICT.name(),
        "Cannot %s job %s: it is %s"
            .formatted(what, job.id(), TargetStatus.of(job.state()).onTheWire()));
  }

  private static Job job(Request request) {
    return find(request, request.id("target_id"), request.id("job_id"));
  }

  private static Job find(Request request, UUID target, UUID id) {
    return request
        .services()
        .jobs()
        .get(id)
        .filter(job -> job.needs().target().filter(target.toString()::equals).isPresent())
        .orElseThrow(() ->
            new HoldfastException(
                ErrorCode.NOT_FOUND, "Target %s has no job %s".formatted(target, id)));
  }

  private static Answer answer(Request request, Job job) {
    return Answer.ok(TargetJson.job(request, job));
  }
}
