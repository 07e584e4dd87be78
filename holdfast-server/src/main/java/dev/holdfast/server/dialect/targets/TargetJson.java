package dev.holdfast.server.dialect.targets;

import dev.holdfast.api.Json;
import dev.holdfast.api.MaskedArgs;
import dev.holdfast.job.Failure;
import dev.holdfast.job.Job;
import dev.holdfast.queue.Jobs;
import dev.holdfast.queue.LogEntry;
import dev.holdfast.queue.Touched;
import dev.holdfast.server.auth.Role;
import dev.holdfast.server.http.Listing;
import dev.holdfast.server.http.Request;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Jobs and their logs as clients of targets read them. */
final class TargetJson {

  private static final String LINE = "message";
  private static final Set<TargetStatus> BEGINS =
      EnumSet.of(TargetStatus.PENDING, TargetStatus.QUEUED, TargetStatus.RUNNING);

  private TargetJson() {}

  static ObjectNode job(Request request, Job job) {
    Map<UUID, Touched> touched = request.services().jobs().touched(List.of(job.id()));
    return job(job, Optional.ofNullable(touched.get(job.id())), seesParameters(request));
  }

  /** Those of these jobs that there are. */
  static Listing.Rows jobs(Request request, List<UUID> ids) {
    Jobs jobs = request.services().jobs();
    boolean withParameters = seesParameters(request);
    return rows -> {
      Map<UUID, Touched> touched = jobs.touched(ids);
      jobs.each(
          ids,
          (job, place) ->
              rows.accept(job(job, Optional.ofNullable(touched.get(job.id())), withParameters)));
    };
  }

  private static boolean seesParameters(Request request) {
    return request.mayDo(Role.SUBMITTER) || request.mayDo(Role.WORKER);
  }

  private static ObjectNode job(Job job, Optional<Touched> touched, boolean withParameters) {
    ObjectNode json = Json.object();
    json.put("id", job.id().toString());
    Json.put(json, "target_id", job.needs().target());
    json.put("api_name", job.kind());
    if (withParameters) {
      Json.put(json, "parameters", MaskedArgs.of(job.args()));
    } else {
      json.putNull("parameters");
    }
    json.put("status", TargetStatus.of(job.state()).onTheWire());
    job.result()
        .ifPresentOrElse(result -> Json.put(json, "result", result), () -> json.putNull("result"));
    Json.put(json, "error", error(job));
    Json.put(json, "created_at", job.createdAt());
    Json.put(json, "updated_at", updatedAt(job, touched));
    Json.put(json, "completed_at", job.finishedAt());
    json.put("total_input_tokens", job.usage().inputTokens());
    json.put("total_output_tokens", job.usage().outputTokens());
    length(job, touched)
        .ifPresentOrElse(
            length -> json.put("duration_seconds", Json.seconds(length)),
            () -> json.putNull("duration_seconds"));
    return json;
  }

  // One that was resumed begins anew: what became of it before is its earlier attempt's. Those
  // whose
  // worker ended are told in the same words. So says the view target_jobs, too.
  private static Optional<String> error(Job job) {
    if (BEGINS.contains(TargetStatus.of(job.state()))) {
      return Optional.empty();
    }
    return job.errorCode().filter(Failure.DRAINED::equals).isPresent()
        ? Optional.of(TargetRoutes.INTERRUPTED)
        : job.errorMessage();
  }

  // A job that a person ended may have waited for that since its last attempt ended.
  private static Optional<Duration> length(Job job, Optional<Touched> touched) {
    if (job.startedAt().isEmpty() || job.finishedAt().isEmpty()) {
      return Optional.empty();
    }
    Instant start = job.startedAt().get();
    Instant end =
        touched
            .flatMap(Touched::attemptEnded)
            .filter(ended -> !ended.isBefore(start))
            .orElseGet(job.finishedAt()::get);
    return Optional.of(Duration.between(start, end));
  }

  private static Instant updatedAt(Job job, Optional<Touched> touched) {
    Optional<Instant> at = touched.map(Touched::at);
    return Stream.of(job.startedAt(), job.progressAt(), job.finishedAt(), at)
        .flatMap(Optional::stream)
        .reduce(job.createdAt(), (one, other) -> one.isAfter(other) ? one : other);
  }

  static ArrayNode log(UUID jobId, List<LogEntry> entries) {
    ArrayNode list = Json.array();
    for (LogEntry entry : entries) {
      list.addObject()
          .put("id", entry.number())
          .put("job_id", jobId.toString())
          .put("timestamp", entry.at().toString())
          .put("log_type", LINE)
          .put("content", entry.text());
    }
    return list;
  }
}
