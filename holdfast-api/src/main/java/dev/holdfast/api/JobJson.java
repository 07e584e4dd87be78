package dev.holdfast.api;

import dev.holdfast.codec.PolicyJson;
import dev.holdfast.job.Job;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Needs;
import dev.holdfast.job.Payload;
import dev.holdfast.job.Policy;
import dev.holdfast.job.Progress;
import dev.holdfast.job.Subject;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import tools.jackson.databind.node.ObjectNode;

/** A job as JSON. */
public final class JobJson {

  private static final PolicyJson POLICIES = new PolicyJson();

  private JobJson() {}

  /**
   * Writes a job for people.
   *
   * @param withArgs whether they may see the arguments; secret ones are masked in any case
   */
  public static ObjectNode write(Job job, boolean withArgs) {
    return write(job, withArgs ? MaskedArgs.of(job.args()) : Payload.NULL);
  }

  /** Writes a job for the worker that runs it, secrets included. */
  static ObjectNode writeWhole(Job job) {
    return write(job, job.args());
  }

  private static ObjectNode write(Job job, Payload args) {
    ObjectNode json = Json.object();
    json.put("id", job.id().toString());
    json.put("kind", job.kind());
    json.put("queue", job.queue());
    json.put("state", job.state().stored());
    Json.put(json, "args", args);
    json.put("priority", job.priority());
    Json.put(json, "run_at", job.runAt());
    Json.put(json, "target", job.needs().target());
    job.needs().resources().forEach(json.putArray("resources")::add);
    json.put("attempt", job.attempt());
    json.put("max_attempts", job.maxAttempts());
    json.put("cancel_requested", job.state() == JobState.STOPPING);
    job.lease()
        .ifPresentOrElse(
            lease ->
                json.putObject("lease")
                    .put("owner", lease.owner())
                    .put("fence", job.fence())
                    .put("expires_at", lease.expiresAt().toString()),
            () -> json.putNull("lease"));
    ObjectNode progress = progress(job.progress());
    Json.put(progress, "at", job.progressAt());
    json.set("progress", progress);
    job.result()
        .ifPresentOrElse(result -> Json.put(json, "result", result), () -> json.putNull("result"));
    Json.put(json, "done_reason", job.doneReason());
    Json.put(json, "error_code", job.errorCode());
    Json.put(json, "error_message", job.errorMessage());
    Json.put(json, "created_at", job.createdAt());
    Json.put(json, "started_at", job.startedAt());
    Json.put(json, "finished_at", job.finishedAt());
    job.tags().forEach(json.putArray("tags")::add);
    Json.put(json, "waiting_on", job.waitingOn());
    json.put("fence", job.fence());
    json.put("granted", job.granted());
    json.set("policy", Json.parse("policy", POLICIES.write(job.policy())));
    job.needs()
        .subject()
        .ifPresentOrElse(
            subject -> json.set("subject", subject(subject)), () -> json.putNull("subject"));
    json.putObject("usage")
        .put("input_tokens", job.usage().inputTokens())
        .put("output_tokens", job.usage().outputTokens());
    return json;
  }

  static ObjectNode subject(Subject subject) {
    ObjectNode json = Json.object().put("type", subject.type()).put("id", subject.id());
    Json.put(json, "during", subject.during());
    return json;
  }

  static ObjectNode progress(Progress progress) {
    ObjectNode json = Json.object();
    Json.put(json, "cursor", progress.cursor());
    json.put("progress_count", boxed(progress.progressCount()).orElse(null));
    json.put("result_count", boxed(progress.resultCount()).orElse(null));
    json.put(
        "percent",
        progress.percent().isPresent() ? (Double) progress.percent().getAsDouble() : null);
    Json.put(json, "message", progress.message());
    return json;
  }

  private static Optional<Long> boxed(OptionalLong number) {
    return number.isPresent() ? Optional.of(number.getAsLong()) : Optional.empty();
  }

  /** Reads a job as {@link #write} writes it. */
  public static Job read(Fields said) {
    JobState state = JobState.of(said.text("state"));
    Fields usage = said.object("usage");
    return new Job(
        said.uuid("id"),
        said.text("kind"),
        said.text("queue"),
        said.optionalInt("priority").orElse(0),
        state,
        said.any("args").map(args -> new Payload(Json.write(args))).orElse(Payload.NULL),
        said.texts("tags"),
        needs(said),
        said.optionalText("waiting_on"),
        said.instant("run_at"),
        said.optionalInt("attempt").orElse(0),
        said.optionalInt("granted").orElse(0),
        policy(said),
        said.number("fence"),
        said.optionalObject("lease").map(JobJson::lease),
        said.optionalObject("progress").map(JobJson::progress).orElse(Progress.NONE),
        said.optionalObject("progress").flatMap(progress -> progress.optionalInstant("at")),
        new Job.Usage(usage.number("input_tokens"), usage.number("output_tokens")),
        said.any("result").map(result -> new Payload(Json.write(result))),
        said.optionalText("done_reason"),
        said.optionalText("error_code"),
        said.optionalText("error_message"),
        said.instant("created_at"),
        said.optionalInstant("started_at"),
        said.optionalInstant("finished_at"));
  }

  private static Policy policy(Fields said) {
    return said.any("policy")
        .map(policy -> POLICIES.resolve(null, Json.write(policy)))
        .orElse(Policy.DEFAULTS);
  }

  private static Needs needs(Fields said) {
    List<String> resources = said.texts("resources");
    Optional<Subject> subject =
        said.optionalObject("subject")
            .map(each ->
                new Subject(each.text("type"), each.text("id"), each.optionalText("during")));
    return resources.isEmpty() && subject.isEmpty()
        ? Needs.NOTHING
        : new Needs(resources, said.optionalText("target"), subject);
  }

  private static Job.LeaseInfo lease(Fields said) {
    return new Job.LeaseInfo(said.text("owner"), said.instant("expires_at"));
  }

  static Progress progress(Fields said) {
    return new Progress(
        said.optionalText("cursor"),
        said.optionalNumber("progress_count").map(OptionalLong::of).orElse(OptionalLong.empty()),
        said.optionalNumber("result_count").map(OptionalLong::of).orElse(OptionalLong.empty()),
        said.optionalDouble("percent").map(OptionalDouble::of).orElse(OptionalDouble.empty()),
        said.optionalText("message"));
  }
}
