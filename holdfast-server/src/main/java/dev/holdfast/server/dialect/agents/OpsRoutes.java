package dev.holdfast.server.dialect.agents;

import static dev.holdfast.server.http.Route.Method.DELETE;
import static dev.holdfast.server.http.Route.Method.POST;

import dev.holdfast.api.Fields;
import dev.holdfast.api.Json;
import dev.holdfast.audit.Act;
import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.JobAct;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Placement;
import dev.holdfast.queue.Acts;
import dev.holdfast.server.auth.Role;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Refusal;
import dev.holdfast.server.http.Request;
import dev.holdfast.server.http.Route;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** What people do to agents' jobs. */
final class OpsRoutes {

  private static final int MOST_ENTRIES = 100_000;
  private static final Set<JobState> UNFINISHED = JobAct.CANCEL.from();

  private final AgentDialect dialect;

  OpsRoutes(AgentDialect dialect) {
    this.dialect = dialect;
  }

  List<Route> routes() {
    return List.of(
        Route.of(
            POST,
            "/stop/{job_id}",
            Role.OPERATOR,
            "Asks a job's agent to stop it; cancels one that waits",
            this::stop),
        Route.of(
            DELETE,
            "/job/{job_id}",
            Role.ADMIN,
            "Removes a job with all that is known of it and all that it left",
            this::delete),
        Route.of(
                POST,
                "/ops/jobs/{job_id}/requeue",
                Role.OPERATOR,
                "Back to the queue",
                this::requeue)
            .fields("force", "reason", "preferred_host", "require_host"),
        Route.of(POST, "/ops/jobs/{job_id}/fail", Role.OPERATOR, "It has failed", this::fail)
            .fields("force", "reason"),
        Route.of(POST, "/ops/jobs/{job_id}/cancel", Role.ADMIN, "It is canceled", this::cancel)
            .fields("force", "reason"),
        Route.of(
            POST,
            "/ops/queue/cleanup",
            Role.OPERATOR,
            "Removes entries of the queue that stand for nothing",
            this::cleanup));
  }

  private Answer stop(Request request) {
    AgentJob job = dialect.job(request);
    if (job.status().isTerminal()) {
      return message("Job already finished (" + job.status().word() + ")");
    }
    JobState after;
    try {
      after = request.services().acts().stop(job.id(), request.act()).state();
    } catch (HoldfastException e) {
      if (e.code() != ErrorCode.STATE_CONFLICT) {
        throw e;
      }
      return stop(request); // it came to its end this moment, and that is the answer
    }
    dialect.services(request).files().show(job.id());
    if (after == JobState.STOPPING) {
      return message(
          job.state() == JobState.STOPPING
              ? "Stop already requested"
              : "Stop requested; its worker will stop the job");
    }
    return message("Job canceled from queue");
  }

  private static Answer message(String text) {
    return Answer.ok(Json.object().put("message", text));
  }

  private Answer delete(Request request) {
    AgentJob job = dialect.job(request);
    AgentServices services = dialect.services(request);
    Acts acts = request.services().acts();
    if (!job.state().isFinished()) {
      end(acts, job.id(), request.act().because("deleted").withForce());
    }
    services.catalogue().remove(job.id());
    try {
      acts.delete(job.id(), request.act());
    } catch (HoldfastException e) {
      if (e.code() != ErrorCode.NOT_FOUND) {
        throw e;
      }
      throw StatusReports.notFound(job.id()); // somebody else did
    } finally {
      services.files().show(job.id());
    }
    return Answer.ok(
        Json.object().put("message", "Job deleted").put("job_id", job.id().toString()));
  }

  private static void end(Acts acts, UUID id, Act act) {
    try {
      acts.cancel(id, act.onlyIn(UNFINISHED));
    } catch (HoldfastException e) {
      if (e.code() != ErrorCode.STATE_CONFLICT) {
        throw e;
      }
      // It came to its end this moment, by its agent's word for example: that will do.
    }
  }

  private Answer requeue(Request request) {
    Fields body = request.body();
    AgentJob job = dialect.job(request);
    Act act = request.act(body);
    Optional<Placement> placement = placement(body, job.placement());
    UUID id = job.id();
    Acts acts = request.services().acts();
    if (job.state() == JobState.QUEUED) {
      placement.ifPresent(other -> orStatus(request, () -> acts.place(id, other, act)));
    } else if (job.state() == JobState.PAUSED && act.force()) {
      // The dialect has no word for it, and no other way back to the queue.
      orStatus(
          request,
          () ->
              placement.ifPresentOrElse(
                  other -> acts.resume(id, other, act), () -> acts.resume(id, act)));
    } else {
      orStatus(
          request,
          () ->
              placement.ifPresentOrElse(
                  other -> acts.requeue(id, other, act), () -> acts.requeue(id, act)));
    }
    return done(request, "Job requeued");
  }

  /** Where it is to go, if that is said. */
  private Optional<Placement> placement(Fields body, Placement before) {
    if (!body.says("preferred_host") && !body.says("require_host")) {
      return Optional.empty();
    }
    Optional<String> host =
        body.says("preferred_host")
            ? body.optionalText("preferred_host").map(name -> dialect.host("preferred_host", name))
            : before.host();
    boolean required =
        body.optionalBoolean("require_host").orElse(host.isPresent() && before.hostRequired());
    return Optional.of(new Placement(host, required, Map.of()));
  }

  private Answer fail(Request request) {
    Fields body = request.body();
    AgentJob job = dialect.job(request);
    boolean isSo = body.flag("force") && job.status() == AgentStatus.FAILED;
    if (!isSo) {
      orStatus(request, () -> request.services().acts().fail(job.id(), request.act(body)));
    }
    return done(request, "Job marked as failed");
  }

  // At once: who cancels here does not wait for an agent that may be the reason. So the engine is
  // told to use force whatever the job's state is by then, and not to touch one that is over
  // unless the caller said so.
  private Answer cancel(Request request) {
    Fields body = request.body();
    Act act = request.act(body).withForce();
    if (body.flag("force")) {
      overrule(request, act);
    } else {
      UUID id = dialect.job(request).id();
      orStatus(request, () -> request.services().acts().cancel(id, act.onlyIn(UNFINISHED)));
    }
    return done(request, "Job canceled");
  }

  private void overrule(Request request, Act act) {
    AgentJob job = dialect.job(request);
    if (job.state() != JobState.CANCELLED) {
      try {
        request.services().acts().cancel(job.id(), act);
      } catch (HoldfastException e) {
        if (e.code() != ErrorCode.STATE_CONFLICT) {
          throw e;
        }
        overrule(request, act); // it was cancelled this moment, perhaps as stopped
      }
    } else if (job.status() == AgentStatus.STOPPED) {
      dialect.services(request).jobs().resay(job.id(), AgentStatus.CANCELED);
    }
  }

  private Answer done(Request request, String message) {
    AgentServices services = dialect.services(request);
    services.files().show(AgentDialect.id(request));
    AgentJob after = dialect.job(request);
    ObjectNode json = Json.object().put("message", message);
    json.put("job_id", after.id().toString()).put("status", after.status().word());
    return Answer.ok(json);
  }

  private void orStatus(Request request, Runnable act) {
    try {
      act.run();
    } catch (HoldfastException e) {
      if (e.code() == ErrorCode.STATE_CONFLICT) {
        throw conflict(dialect.job(request));
      }
      throw e;
    }
  }

  private static Refusal.Refused conflict(AgentJob job) {
    return new Refusal(
            409,
            ErrorCode.STATE_CONFLICT.name(),
            "job %s is %s; this needs force".formatted(job.id(), job.status().word()),
            Map.of("status", job.status().word()))
        .asException();
  }

  private Answer cleanup(Request request) {
    AgentServices services = dialect.services(request);
    Set<String> removed = new LinkedHashSet<>();
    services.jobs().queued(MOST_ENTRIES).stream()
        .map(AgentJobs.Entry::id)
        .filter(id -> failUnreadable(request, services, id))
        .forEach(id -> removed.add(id.toString()));
    removed.addAll(services.files().sweepQueue());
    services.follow();
    ObjectNode json = Json.object();
    ArrayNode list = json.putArray("removed");
    removed.forEach(list::add);
    json.put("count", removed.size());
    return Answer.ok(json);
  }

  /** One that waits and that no agent could run: it has failed. */
  private static boolean failUnreadable(Request request, AgentServices services, UUID id) {
    boolean unreadable =
        services.jobs().find(id).filter(job -> job.simulation().isEmpty()).isPresent();
    if (unreadable) {
      request
          .services()
          .acts()
          .fail(
              id,
              request.act().because("its arguments are not those of an agents' job").withForce());
      services.files().show(id);
    }
    return unreadable;
  }
}
