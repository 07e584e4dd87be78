package dev.holdfast.server.api;

import static dev.holdfast.server.api.Routes.BASE;
import static dev.holdfast.server.http.Route.Method.DELETE;
import static dev.holdfast.server.http.Route.Method.GET;
import static dev.holdfast.server.http.Route.Method.POST;
import static dev.holdfast.server.http.Route.Method.PUT;

import dev.holdfast.api.Fields;
import dev.holdfast.api.Json;
import dev.holdfast.api.MaskedArgs;
import dev.holdfast.codec.PolicyJson;
import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Payload;
import dev.holdfast.schedule.Dst;
import dev.holdfast.schedule.Planned;
import dev.holdfast.schedule.Schedule;
import dev.holdfast.schedule.Trigger;
import dev.holdfast.server.auth.Role;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Request;
import dev.holdfast.server.http.Route;
import dev.holdfast.slot.Slot;
import dev.holdfast.tenant.Portion;
import java.time.Duration;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Routes for schedules and their slots. */
final class ScheduleRoutes {

  private static final PolicyJson POLICIES = new PolicyJson();

  private static final Set<String> OWN =
      Set.of(
          "cron",
          "every_seconds",
          "timezone",
          "kind",
          "queue",
          "args",
          "priority",
          "resources",
          "target",
          "site_id",
          "environment_id",
          "node_id",
          "coalesce",
          "misfire_grace_seconds",
          "max_instances",
          "expected_runtime_seconds",
          "dst",
          "enabled",
          "max_attempts",
          "retry",
          "timeout_seconds",
          "lease_seconds",
          "on_lease_lost",
          "on_stop",
          "on_failure");

  // Fields that are only shown; accepted, so that a schedule can be put as it was read.
  private static final Set<String> SHOWN = Set.of("name", "policy", "next_at", "declared_by");
  private static final Set<String> WHOLE =
      Stream.concat(OWN.stream(), SHOWN.stream()).collect(Collectors.toUnmodifiableSet());

  List<Route> routes() {
    String one = BASE + "/schedules/{name}";
    return List.of(
        Route.of(GET, BASE + "/schedules", Role.VIEWER, "Lists schedules", this::list)
            .queries("limit", "after"),
        Route.of(GET, one, Role.VIEWER, "A schedule", this::get),
        Route.of(PUT, one, Role.OPERATOR, "Makes a schedule, or makes it so", this::put)
            .fields(WHOLE),
        Route.of(
            DELETE, one, Role.OPERATOR, "Removes a schedule; its slots are kept", this::delete),
        Route.of(
                POST,
                one + "/enable",
                Role.OPERATOR,
                "Lets a schedule be due",
                request -> enable(request, true))
            .fields("reason"),
        Route.of(
                POST,
                one + "/disable",
                Role.OPERATOR,
                "Lets a schedule not be due",
                request -> enable(request, false))
            .fields("reason"),
        Route.of(GET, one + "/slots", Role.VIEWER, "What became of its slots", this::slots)
            .queries("limit", "after"),
        Route.of(GET, one + "/next", Role.VIEWER, "When it is due next", this::next)
            .queries("count", "from"),
        Route.of(POST, one + "/trigger", Role.OPERATOR, "Runs it now, for a slot", this::trigger)
            .fields("scheduled_for", "reason"));
  }

  private Answer list(Request request) {
    Portion<Planned> schedules =
        request.services().schedules().list(request.after(), request.limit());
    ObjectNode json = Json.object();
    ArrayNode list = json.putArray("schedules");
    schedules.rows().forEach(planned -> list.add(json(request, planned)));
    json.put("after", schedules.more() ? schedules.rows().getLast().schedule().name() : null);
    return Answer.ok(json);
  }

  private Answer get(Request request) {
    return Answer.ok(json(request, planned(request)));
  }

  private static Planned planned(Request request) {
    String name = request.path("name");
    return request
        .services()
        .schedules()
        .get(name)
        .orElseThrow(() -> new HoldfastException(ErrorCode.NOT_FOUND, "no schedule " + name));
  }

  private Answer put(Request request) {
    Fields body = request.body();
    String name = request.path("name");
    body.optionalText("name")
        .filter(said -> !said.equals(name))
        .ifPresent(said -> {
          throw HoldfastException.invalid("name", said, "the one in the path");
        });
    Optional<Planned> before = request.services().schedules().get(name);
    NewJob job = job(request, body, before.map(planned -> planned.schedule().job()));
    Schedule defaults = Schedule.of(name, trigger(body), job);
    Schedule schedule =
        new Schedule(
            name,
            defaults.trigger(),
            job,
            body.optionalBoolean("coalesce").orElse(defaults.coalesce()),
            body.optionalSeconds("misfire_grace_seconds").orElse(defaults.misfireGrace()),
            body.optionalInt("max_instances").orElse(defaults.maxInstances()),
            body.optionalSeconds("expected_runtime_seconds").orElse(defaults.expectedRuntime()),
            body.optionalBoolean("enabled").orElse(true));
    ObjectNode json = json(request, request.services().schedules().put(schedule, request.act()));
    return before.isEmpty() ? Answer.created(json) : Answer.ok(json);
  }

  private static NewJob job(Request request, Fields body, Optional<NewJob> before) {
    ObjectNode said = Json.object();
    body.optionalObject("policy").ifPresent(policy -> said.setAll(policy.json()));
    Set<String> ofTheJob = JobSpec.fields();
    body.json().propertyNames().stream()
        .filter(ofTheJob::contains)
        .forEach(field -> said.set(field, body.json().get(field)));
    Optional<JsonNode> stored = // not of another kind, whose jobs could reveal them
        before
            .filter(known -> known.kind().equals(body.text("kind")))
            .flatMap(known ->
                known.args() instanceof Payload args
                    ? Optional.of(Json.parse("args", args.json()))
                    : Optional.empty());
    if (said.path("args") instanceof ObjectNode args && stored.isPresent()) {
      said.set("args", MaskedArgs.restored(args, stored.get()));
    }
    JobSpec spec = new JobSpec(request);
    // Unchanged arguments were allowed when they were put, if the same executor still runs them.
    boolean same =
        stored.filter(said.path("args")::equals).isPresent()
            && before.filter(spec::isRunAsBefore).isPresent();
    Fields fields = Fields.of("body", said);
    return same ? spec.readAsIs(fields) : spec.read(fields);
  }

  private static Trigger trigger(Fields body) {
    if (body.any("cron").isPresent() == body.any("every_seconds").isPresent()) {
      throw HoldfastException.invalid(
          "cron",
          body.any("cron").map(Object::toString).orElse("missing"),
          "either cron or every_seconds");
    }
    if (body.any("every_seconds").isPresent()) {
      return Trigger.every(body.optionalSeconds("every_seconds").orElse(Duration.ZERO));
    }
    ZoneId zone = body.optionalText("timezone").map(Trigger::zone).orElse(ZoneOffset.UTC);
    Dst dst = body.optionalObject("dst").map(ScheduleRoutes::dst).orElse(Dst.DEFAULTS);
    return Trigger.cron(body.text("cron"), zone, dst);
  }

  private static Dst dst(Fields said) {
    said.only(Set.of("twice", "missing"));
    return new Dst(
        said.optionalText("twice")
            .map(name -> choice("dst.twice", name, Dst.Twice.values()))
            .orElse(Dst.DEFAULTS.twice()),
        said.optionalText("missing")
            .map(name -> choice("dst.missing", name, Dst.Missing.values()))
            .orElse(Dst.DEFAULTS.missing()));
  }

  private static <E extends Enum<E>> E choice(String field, String name, E[] values) {
    return Arrays.stream(values)
        .filter(value -> lower(value).equals(name))
        .findFirst()
        .orElseThrow(() ->
            HoldfastException.invalid(
                field, name, Arrays.toString(values).toLowerCase(Locale.ROOT)));
  }

  private static String lower(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }

  private Answer delete(Request request) {
    request.services().schedules().delete(request.path("name"), request.act());
    return Answer.done();
  }

  private Answer enable(Request request, boolean enabled) {
    return Answer.ok(
        json(
            request,
            request
                .services()
                .schedules()
                .enable(request.path("name"), enabled, request.act(request.body()))));
  }

  private Answer slots(Request request) {
    int limit = request.limit();
    String name = request.path("name");
    List<Slot> slots = request.services().schedules().slots(name, request.instant("after"), limit);
    if (slots.isEmpty()) {
      planned(request); // tells a schedule without slots from an unknown one
    }
    ObjectNode json = Json.object();
    ArrayNode list = json.putArray("slots");
    slots.forEach(slot -> list.add(json(slot)));
    json.put("after", slots.size() == limit ? slots.getLast().scheduledFor().toString() : null);
    return Answer.ok(json);
  }

  private static ObjectNode json(Slot slot) {
    ObjectNode json = Json.object();
    Json.put(json, "scheduled_for", slot.scheduledFor());
    json.put("status", slot.status().stored());
    Json.put(json, "reason", slot.reason());
    Json.put(json, "job_id", slot.jobId());
    Json.put(json, "started_at", slot.startedAt());
    Json.put(json, "finished_at", slot.finishedAt());
    return json;
  }

  private Answer next(Request request) {
    int count = Math.clamp(request.number("count").orElse(10L), -1, 1_000_000);
    ObjectNode json = Json.object();
    ArrayNode next = json.putArray("next");
    request
        .services()
        .schedules()
        .next(request.path("name"), count, request.instant("from"))
        .forEach(moment -> next.add(moment.toString()));
    return Answer.ok(json);
  }

  private Answer trigger(Request request) {
    Fields body = request.body();
    UUID job =
        request
            .services()
            .schedules()
            .trigger(
                request.path("name"), body.optionalInstant("scheduled_for"), request.act(body));
    return Answer.created(JobRoutes.json(request, JobRoutes.job(request, job)));
  }

  private static ObjectNode json(Request request, Planned planned) {
    Schedule schedule = planned.schedule();
    NewJob job = schedule.job();
    ObjectNode json = Json.object();
    json.put("name", schedule.name());
    switch (schedule.trigger()) {
      case Trigger.Every(var interval) -> {
        json.putNull("cron");
        json.put("every_seconds", interval.toSeconds());
        json.putNull("timezone");
      }
      case Trigger.OnTheWall wall -> {
        json.put("cron", wall.expression());
        json.putNull("every_seconds");
        json.put("timezone", wall.zone().getId());
        json.putObject("dst")
            .put("twice", lower(wall.dst().twice()))
            .put("missing", lower(wall.dst().missing()));
      }
    }
    json.put("kind", job.kind());
    json.put("queue", job.queue());
    json.put("priority", job.priority());
    if ((request.mayDo(Role.SUBMITTER) || request.mayDo(Role.WORKER))
        && job.args() instanceof Payload args) {
      Json.put(json, "args", MaskedArgs.of(args));
    } else {
      json.putNull("args");
    }
    job.needs().resources().forEach(json.putArray("resources")::add);
    json.set("policy", Json.parse("policy", POLICIES.writeSaid(job.policy())));
    json.put("coalesce", schedule.coalesce());
    json.put("misfire_grace_seconds", schedule.misfireGrace().toSeconds());
    json.put("max_instances", schedule.maxInstances());
    json.put("expected_runtime_seconds", schedule.expectedRuntime().toSeconds());
    json.put("enabled", schedule.enabled());
    Json.put(json, "next_at", planned.nextAt());
    Json.put(json, "declared_by", planned.declaredBy());
    return json;
  }
}
