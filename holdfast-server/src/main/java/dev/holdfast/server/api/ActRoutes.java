package dev.holdfast.server.api;

import static dev.holdfast.server.api.Routes.BASE;
import static dev.holdfast.server.http.Route.Method.DELETE;
import static dev.holdfast.server.http.Route.Method.PATCH;
import static dev.holdfast.server.http.Route.Method.POST;

import dev.holdfast.api.Fields;
import dev.holdfast.api.JobQuery;
import dev.holdfast.api.Json;
import dev.holdfast.audit.Act;
import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Job;
import dev.holdfast.job.JobAct;
import dev.holdfast.job.Limits;
import dev.holdfast.job.Payload;
import dev.holdfast.job.Policy.OnStop;
import dev.holdfast.queue.Acts;
import dev.holdfast.queue.Changes;
import dev.holdfast.queue.JobPage;
import dev.holdfast.server.auth.Role;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Refusal;
import dev.holdfast.server.http.Request;
import dev.holdfast.server.http.Route;
import dev.holdfast.tenant.Tenant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Routes for what people do to jobs. */
final class ActRoutes {

  private static final Logger log = LoggerFactory.getLogger(ActRoutes.class);

  // Acts without parameters of their own, unlike resolve and change.
  private static final Set<JobAct> PLAIN =
      EnumSet.of(
          JobAct.CANCEL,
          JobAct.STOP,
          JobAct.PAUSE,
          JobAct.RESUME,
          JobAct.RETRY,
          JobAct.REQUEUE,
          JobAct.FAIL);

  private final BiConsumer<Tenant, Job> acted;

  /**
   * For all tenants.
   *
   * @param acted is told of every job that somebody acted on, before they have their answer
   */
  ActRoutes(BiConsumer<Tenant, Job> acted) {
    this.acted = acted;
  }

  List<Route> routes() {
    List<Route> routes = new ArrayList<>();
    for (JobAct act : PLAIN) {
      Role role = act == JobAct.CANCEL ? Role.ADMIN : Role.OPERATOR;
      routes.add(
          Route.of(
                  POST,
                  BASE + "/jobs/{id}/" + act.stored(),
                  role,
                  "Lets somebody " + act.stored() + " a job",
                  request -> perform(request, act))
              .fields("reason", "force"));
    }
    routes.add(
        Route.of(
                POST,
                BASE + "/jobs/{id}/resolve",
                Role.OPERATOR,
                "Somebody did by hand what a job was to do",
                request -> perform(request, JobAct.RESOLVE))
            .fields("reason", "force", "result"));
    routes.add(
        Route.of(
                PATCH,
                BASE + "/jobs/{id}",
                Role.OPERATOR,
                "Another time, priority or tags for a job that waits",
                this::change)
            .fields("run_at", "priority", "tags", "reason"));
    routes.add(
        Route.of(
            DELETE,
            BASE + "/jobs/{id}",
            Role.ADMIN,
            "Removes a finished job and its history",
            this::delete));
    routes.add(
        Route.of(
                POST,
                BASE + "/jobs/actions",
                Role.OPERATOR,
                "Does the same to many jobs, by filter or ids; dry_run only says to which",
                this::performOnMany)
            .fields(
                "action", "filter", "ids", "reason", "force", "result", "dry_run", "limit",
                "after"));
    return routes;
  }

  private Answer perform(Request request, JobAct what) {
    Fields body = request.body();
    UUID id = request.id();
    Act act = request.act(body);
    Payload result = result(body);
    check(request, what, id);
    Job after = orState(request, id, () -> perform(request, what, id, act, result));
    return Answer.ok(JobRoutes.json(request, after));
  }

  private static void check(Request request, JobAct what, UUID id) {
    if (!request.mayDo(Role.ADMIN)) {
      check(request, what, JobRoutes.job(request, id));
    }
  }

  private static void check(Request request, JobAct what, Job job) {
    takesAdmin(what, job).ifPresent(why -> request.require(Role.ADMIN, why));
  }

  /** Why it takes an admin to do this to this job, if it does although the act does not. */
  private static Optional<String> takesAdmin(JobAct what, Job job) {
    if (Reserved.is(job.queue())) { // whoever stops its jobs silences the webhooks that admins made
      return Optional.of("a job of the server's own");
    }
    return what == JobAct.STOP && job.policy().onStop() == OnStop.CANCEL
        ? Optional.of("stopping a job that is cancelled when stopped")
        : Optional.empty();
  }

  private Job perform(Request request, JobAct what, UUID id, Act act, Payload result) {
    Job after = perform(request.services().acts(), what, id, act, result);
    acted.accept(request.services().tenant(), after);
    return after;
  }

  private static Job perform(Acts acts, JobAct what, UUID id, Act act, Payload result) {
    return switch (what) {
      case CANCEL -> acts.cancel(id, act);
      case STOP -> acts.stop(id, act);
      case PAUSE -> acts.pause(id, act);
      case RESUME -> acts.resume(id, act);
      case RETRY -> acts.retry(id, act);
      case REQUEUE -> acts.requeue(id, act);
      case FAIL -> acts.fail(id, act);
      case RESOLVE -> acts.resolve(id, result, act);
      case CHANGE, DELETE -> throw new IllegalArgumentException(what + " says more");
    };
  }

  private static Payload result(Fields body) {
    return body.any("result")
        .map((JsonNode json) -> new Payload(Limits.payload("result", Json.write(json))))
        .orElse(Payload.NULL);
  }

  private interface Doing {
    Job perform();
  }

  /** Adds the job's state to a refusal that is due to it. */
  private static Job orState(Request request, UUID id, Doing doing) {
    try {
      return doing.perform();
    } catch (HoldfastException e) {
      if (e.code() != ErrorCode.STATE_CONFLICT) {
        throw e;
      }
      Optional<Job> job = request.services().jobs().get(id);
      throw new Refusal(
              409,
              e.code().name(),
              String.valueOf(e.getMessage()),
              job.map(found -> Map.of("state", found.state().stored())).orElse(Map.of()))
          .asException();
    }
  }

  private Answer change(Request request) {
    Fields body = request.body();
    Changes changes =
        new Changes(
            body.optionalInstant("run_at"),
            body.optionalInt("priority"),
            body.any("tags").map(tags -> body.texts("tags")));
    UUID id = request.id();
    Act act = request.act(body);
    check(request, JobAct.CHANGE, id);
    Job after = orState(request, id, () -> request.services().acts().change(id, changes, act));
    return Answer.ok(JobRoutes.json(request, after));
  }

  private Answer delete(Request request) {
    UUID id = request.id();
    Job gone =
        orState(
            request,
            id,
            () -> {
              Job job = JobRoutes.job(request, id);
              request.services().acts().delete(id, request.act());
              return job;
            });
    acted.accept(request.services().tenant(), gone);
    return Answer.done();
  }

  private Answer performOnMany(Request request) {
    Fields body = request.body();
    JobAct what = onMany(body.text("action"));
    if (what == JobAct.CANCEL) {
      request.require(Role.ADMIN, "cancelling");
    }
    boolean dryRun = body.flag("dry_run");
    Act act = request.act(body);
    Payload result = result(body);
    ArrayNode results = Json.array();
    Consumer<Job> each =
        job ->
            results.add(
                dryRun ? preview(request, what, job, body) : one(request, what, job, act, result));
    Optional<UUID> after =
        body.says("ids") ? byIds(request, body, each) : byFilter(request, body, each);
    ObjectNode json = Json.object().put("dry_run", dryRun).put("matched", results.size());
    json.set("results", results);
    Json.put(json, "after", after);
    return Answer.ok(json);
  }

  private static Optional<UUID> byFilter(Request request, Fields body, Consumer<Job> each) {
    Fields filter =
        body.optionalObject("filter")
            .orElseThrow(() -> body.missing("filter", "an object, or ids"));
    filter.only(Set.copyOf(JobQuery.NAMES));
    JobPage page =
        request
            .services()
            .jobs()
            .list(
                JobQuery.read(filter::optionalText),
                body.optionalText("after").map(after -> Fields.uuid("after", after)),
                body.optionalInt("limit").orElse(100));
    page.jobs().forEach(each);
    return page.after();
  }

  // The jobs that exist, in the order of their ids in the request.
  private static Optional<UUID> byIds(Request request, Fields body, Consumer<Job> each) {
    if (body.says("filter")) {
      throw HoldfastException.invalid("ids", "given beside filter", "one of the two");
    }
    List<UUID> ids =
        body.texts("ids").stream().map(id -> Fields.uuid("ids", id)).distinct().toList();
    if (ids.isEmpty() || ids.size() > Limits.PAGE_ROWS) {
      throw HoldfastException.invalid("ids", ids.size() + " ids", "1 to " + Limits.PAGE_ROWS);
    }
    request.services().jobs().each(ids, (job, place) -> each.accept(job));
    return Optional.empty();
  }

  private static JobAct onMany(String name) {
    Set<JobAct> all = EnumSet.copyOf(PLAIN);
    all.add(JobAct.RESOLVE);
    return all.stream()
        .filter(act -> act.stored().equals(name))
        .findFirst()
        .orElseThrow(() ->
            HoldfastException.invalid(
                "action", name, all.stream().map(JobAct::stored).toList().toString()));
  }

  private static ObjectNode preview(Request request, JobAct what, Job job, Fields body) {
    boolean allowed =
        what.isAllowed(job.state(), body.flag("force"))
            && (request.mayDo(Role.ADMIN) || takesAdmin(what, job).isEmpty());
    return result(job.id(), job.state().stored(), allowed ? "would" : "refused");
  }

  // A refusal for one job must not affect the others.
  private ObjectNode one(Request request, JobAct what, Job job, Act act, Payload result) {
    try {
      check(request, what, job);
      Job after = perform(request, what, job.id(), act, result);
      return result(job.id(), after.state().stored(), "done");
    } catch (HoldfastException e) {
      boolean refused = e.code() == ErrorCode.STATE_CONFLICT || e.code() == ErrorCode.NOT_FOUND;
      if (!refused) {
        log.warn("Could not {} job {}", what.stored(), job.id(), e);
      }
      return result(job.id(), job.state().stored(), refused ? "refused" : "failed");
    } catch (Refusal.Refused e) {
      return result(job.id(), job.state().stored(), "refused");
    }
  }

  private static ObjectNode result(UUID id, String state, String status) {
    return Json.object().put("job_id", id.toString()).put("state", state).put("status", status);
  }
}
