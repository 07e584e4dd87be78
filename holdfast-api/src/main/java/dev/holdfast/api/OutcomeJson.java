package dev.holdfast.api;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Failure;
import dev.holdfast.job.Outcome;
import dev.holdfast.job.Payload;
import java.time.Duration;
import java.util.Locale;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** The outcome of an attempt as fields of a JSON object. */
public final class OutcomeJson {

  private static final Set<String> FIELDS =
      Set.of(
          "job_id",
          "fence",
          "outcome",
          "result",
          "error_code",
          "error_message",
          "retryable",
          "delay_seconds",
          "log_excerpt");

  private OutcomeJson() {}

  /**
   * Writes an outcome. Refuses a result that is not JSON, because it must not be able to add text
   * about other jobs to the request.
   */
  static void write(ObjectNode json, Outcome outcome) {
    switch (outcome) {
      case Outcome.Succeeded(Payload result) -> {
        json.put("outcome", "succeeded");
        json.set("result", Json.parse("result", result.json()));
      }
      case Outcome.Failed(Failure failure) -> {
        json.put("outcome", "failed");
        json.put("error_code", failure.code());
        json.put("error_message", failure.message());
        json.put("retryable", failure.retryable());
      }
      case Outcome.Snoozed(Duration delay) ->
          json.put("outcome", "snoozed").put("delay_seconds", Json.seconds(delay));
      case Outcome.Stopped() -> json.put("outcome", "stopped");
      case Outcome.Released(String reason) -> json.put("outcome", "released");
      case Outcome.LeaseExpired(String worker) -> json.put("outcome", "lost");
      case Outcome.NeverStarted() ->
          throw HoldfastException.invalid("outcome", outcome, "what a worker can say");
    }
  }

  /**
   * Reads an outcome as {@link #write} writes it.
   *
   * @param worker the worker that reports it
   */
  public static Outcome read(Fields said, String worker) {
    said.only(FIELDS);
    String outcome = said.text("outcome");
    return switch (outcome.toLowerCase(Locale.ROOT)) {
      case "succeeded" ->
          said.any("result").map(OutcomeJson::succeeded).orElseGet(Outcome::succeeded);
      case "failed" ->
          Outcome.failed(
              new Failure(
                  said.optionalText("error_code").orElse(Failure.HANDLER_FAILED),
                  said.optionalText("error_message").orElse("The worker said no more"),
                  said.optionalBoolean("retryable").orElse(true)));
      case "stopped" -> new Outcome.Stopped();
      case "released" -> new Outcome.Released("handed back by its worker");
      case "snoozed" ->
          Outcome.snoozed(
              said.optionalSeconds("delay_seconds")
                  .orElseThrow(() -> said.missing("delay_seconds", "how long it is to wait")));
      // The worker could not renew its lease in time and stopped by itself, before the job was
      // taken from it.
      case "lost" -> new Outcome.LeaseExpired(worker);
      default ->
          throw HoldfastException.invalid(
              "outcome", outcome, "succeeded, failed, stopped, released, snoozed, lost");
    };
  }

  // A result that cannot be stored fails its own job, and not the others of the same request.
  private static Outcome succeeded(JsonNode result) {
    try {
      return Outcome.succeeded(new Payload(Json.write(result)));
    } catch (HoldfastException e) {
      return Outcome.failed(Failure.unstorable(String.valueOf(e.getMessage())));
    }
  }
}
