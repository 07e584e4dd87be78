package dev.holdfast.server.dialect.pull;

import dev.holdfast.api.Fields;
import dev.holdfast.api.Json;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Failure;
import dev.holdfast.job.Item;
import dev.holdfast.job.Limits;
import dev.holdfast.job.Outcome;
import dev.holdfast.job.Payload;
import dev.holdfast.job.Policy;
import dev.holdfast.job.Progress;
import dev.holdfast.lease.Report;
import dev.holdfast.lease.Submission;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;

/**
 * What a pull worker reports, as JSON.
 *
 * @param attempt the fence that it was given with the job
 * @param extension empty where it is for the job to say
 */
record PullReport(
    UUID jobId,
    OptionalLong attempt,
    Report report,
    Optional<Duration> extension,
    Optional<Submission.End> end) {

  private static final Set<String> DONE_REASONS =
      Set.of("worker_done", "target_reached", "no_more_results");

  static PullReport read(Fields said) {
    Optional<String> log = said.optionalText("log");
    Optional<Submission.End> end = end(said, log);
    List<Item> items =
        said.objects("items").stream().map(item -> item.read(PullReport::item)).toList();
    Report report =
        new Report(
            textOrNumber(said, "cursor").map(Progress.NONE::withCursor).orElse(Progress.NONE),
            end.isPresent() ? List.of() : log.map(PullReport::lines).orElse(List.of()),
            0,
            0,
            items,
            said.optionalText("idempotency_key"));
    return new PullReport(said.uuid("job_id"), attempt(said), report, extension(said), end);
  }

  /** Says that it goes on, and at most how far it is. */
  boolean isBeat() {
    return end.isEmpty() && report.items().isEmpty() && report.logLines().isEmpty();
  }

  boolean hasFailed() {
    return end.filter(said -> said.outcome() instanceof Outcome.Failed).isPresent();
  }

  Submission submission(Supplier<Duration> usual) {
    return new Submission(report, report.items().size(), extension.orElseGet(usual), end);
  }

  private static OptionalLong attempt(Fields said) {
    Optional<JsonNode> node = said.any("attempt_id");
    if (node.isEmpty()) {
      return OptionalLong.empty();
    }
    if (!node.get().isString()) {
      return OptionalLong.of(said.number("attempt_id"));
    }
    String text = node.get().stringValue();
    try {
      return OptionalLong.of(Long.parseLong(text));
    } catch (NumberFormatException e) {
      throw HoldfastException.invalid("attempt_id", text, "the one that came with the job");
    }
  }

  private static Optional<Duration> extension(Fields said) {
    Optional<Duration> length = said.optionalSeconds("extend_lease_sec");
    length.ifPresent(seconds -> {
      if (seconds.compareTo(Policy.LONGEST_LEASE) > 0) {
        throw HoldfastException.invalid(
            "extend_lease_sec", seconds, "0 to " + Policy.LONGEST_LEASE.toSeconds());
      }
    });
    return length;
  }

  // Some count pages and items, and some name them.
  private static Optional<String> textOrNumber(Fields said, String field) {
    Optional<JsonNode> node = said.any(field);
    return node.isPresent() && node.get().isNumber()
        ? Optional.of(node.get().asString())
        : said.optionalText(field);
  }

  private static Optional<Submission.End> end(Fields said, Optional<String> log) {
    Optional<String> error = said.optionalText("error").filter(text -> !text.isEmpty());
    Optional<String> reason = said.optionalText("done_reason").filter(text -> !text.isEmpty());
    reason
        .filter(text -> !DONE_REASONS.contains(text))
        .ifPresent(text -> {
          throw HoldfastException.invalid(
              "done_reason",
              text,
              DONE_REASONS.stream().sorted().collect(Collectors.joining(", ")));
        });
    boolean done = said.flag("done");
    if (error.isPresent()) {
      Failure failure = Failure.retryable(Failure.HANDLER_FAILED, error.get());
      return Optional.of(new Submission.End(Outcome.failed(failure), Optional.empty(), log));
    }
    return done
        ? Optional.of(new Submission.End(Outcome.succeeded(), reason, log))
        : Optional.empty();
  }

  private static List<String> lines(String log) {
    return log.lines().limit(Limits.LOG_LINES_PER_REPORT).toList();
  }

  /** What makes an item the same as another: its key, or else the digits of its phone number. */
  private static Item item(Fields said) {
    String identity = textOrNumber(said, "key").orElseGet(() -> digits(said));
    return new Item(identity, new Payload(Json.write(said.json())));
  }

  private static String digits(Fields said) {
    String phone =
        said.any("phone")
            .filter(node -> node.isString() || node.isIntegralNumber())
            .map(JsonNode::asString)
            .orElseThrow(() -> said.missing("phone", "a phone number, or a key"));
    StringBuilder digits = new StringBuilder();
    phone
        .codePoints()
        .filter(Character::isDigit)
        .forEach(digit -> digits.append(Character.digit(digit, 10)));
    if (digits.isEmpty()) {
      throw HoldfastException.invalid("phone", phone, "a number with digits, or a key");
    }
    return digits.toString();
  }
}
