package dev.holdfast.api;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.AttemptRecord;
import dev.holdfast.queue.LogChunk;
import dev.holdfast.queue.Why;
import dev.holdfast.queue.Why.BlockedBy;
import dev.holdfast.queue.Why.Reason;
import dev.holdfast.tenant.Portion;
import java.util.Arrays;
import java.util.List;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** A job's attempts, its log, and why it waits, as JSON. */
public final class HistoryJson {

  private HistoryJson() {}

  public static ObjectNode writeAttempts(Portion<AttemptRecord> attempts) {
    ObjectNode json = Json.object();
    ArrayNode list = json.putArray("attempts");
    attempts.rows().forEach(attempt -> write(list.addObject(), attempt));
    json.put("after", attempts.more() ? (Long) attempts.rows().getLast().fence() : null);
    return json;
  }

  private static void write(ObjectNode json, AttemptRecord attempt) {
    json.put("attempt", attempt.number());
    json.put("fence", attempt.fence());
    json.put("worker", attempt.worker());
    json.put("outcome", attempt.outcome());
    Json.put(json, "started_at", attempt.startedAt());
    Json.put(json, "finished_at", attempt.finishedAt());
    Json.put(json, "error_code", attempt.errorCode());
    Json.put(json, "error_message", attempt.errorMessage());
    Json.put(json, "log_excerpt", attempt.logExcerpt());
  }

  static List<AttemptRecord> readAttempts(Fields said) {
    return said.objects("attempts").stream()
        .map(each ->
            new AttemptRecord(
                each.number("fence"),
                each.optionalInt("attempt").orElse(0),
                each.text("worker"),
                each.text("outcome"),
                each.instant("started_at"),
                each.instant("finished_at"),
                each.optionalText("error_code"),
                each.optionalText("error_message"),
                each.optionalText("log_excerpt")))
        .toList();
  }

  /**
   * Writes a part of a log.
   *
   * @param from the offset at which it begins
   */
  public static ObjectNode writeLog(long from, LogChunk chunk) {
    ObjectNode json = Json.object();
    ArrayNode lines = json.putArray("logs");
    chunk
        .lines()
        .forEach(line ->
            lines
                .addObject()
                .put("at", line.at().toString())
                .put("fence", line.fence())
                .put("line", line.text()));
    json.put("offset", from);
    json.put("next_offset", chunk.offset());
    return json;
  }

  static LogChunk readLog(Fields said) {
    return new LogChunk(
        said.objects("logs").stream()
            .map(each ->
                new LogChunk.Line(each.instant("at"), each.number("fence"), each.text("line")))
            .toList(),
        said.number("next_offset"));
  }

  public static ObjectNode writeWhy(Why why) {
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
    return json;
  }

  static Why readWhy(Fields said) {
    return new Why(
        reason(said.text("reason")),
        said.text("detail"),
        said.optionalObject("blocked_by")
            .map(by ->
                new BlockedBy(
                    by.text("resource"),
                    by.uuid("job_id"),
                    by.text("state"),
                    by.instant("since"))));
  }

  private static Reason reason(String name) {
    return Arrays.stream(Reason.values())
        .filter(reason -> reason.stored().equals(name))
        .findFirst()
        .orElseThrow(
            () -> HoldfastException.invalid("reason", name, Arrays.toString(Reason.values())));
  }
}
