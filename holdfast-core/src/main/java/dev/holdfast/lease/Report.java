package dev.holdfast.lease;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Item;
import dev.holdfast.job.Limits;
import dev.holdfast.job.Progress;
import java.util.List;
import java.util.Optional;

/**
 * What a running attempt reports, to be stored.
 *
 * @param inputTokens tokens used since the last report, not a total; so is {@code outputTokens}
 * @param items what the job found or made; each new one adds to the result count
 * @param idempotencyKey makes the report safe to send again: with the same key it is stored once
 */
public record Report(
    Progress progress,
    List<String> logLines,
    long inputTokens,
    long outputTokens,
    List<Item> items,
    Optional<String> idempotencyKey) {

  public static final Report EMPTY =
      new Report(Progress.NONE, List.of(), 0, 0, List.of(), Optional.empty());

  public Report {
    logLines = logLines.stream().map(line -> Limits.cut(line, Limits.LOG_LINE_CHARS)).toList();
    items = List.copyOf(items);
    if (items.size() > Limits.ITEMS_PER_REPORT) {
      throw HoldfastException.invalid("items", items.size(), "at most " + Limits.ITEMS_PER_REPORT);
    }
    if (inputTokens < 0 || outputTokens < 0) {
      throw HoldfastException.invalid("usage", inputTokens + ", " + outputTokens, "0 or more");
    }
    idempotencyKey.ifPresent(key -> Limits.name("idempotency_key", key));
  }

  public boolean isEmpty() {
    return equals(EMPTY);
  }

  public static Report of(Progress progress) {
    return new Report(progress, List.of(), 0, 0, List.of(), Optional.empty());
  }

  public static Report ofLog(List<String> lines) {
    return EMPTY.withLog(lines);
  }

  public static Report ofUsage(long inputTokens, long outputTokens) {
    return new Report(
        Progress.NONE, List.of(), inputTokens, outputTokens, List.of(), Optional.empty());
  }

  public static Report ofItems(List<Item> items) {
    return new Report(Progress.NONE, List.of(), 0, 0, items, Optional.empty());
  }

  public Report withLog(List<String> lines) {
    return new Report(progress, lines, inputTokens, outputTokens, items, idempotencyKey);
  }

  public Report withIdempotencyKey(String key) {
    return new Report(progress, logLines, inputTokens, outputTokens, items, Optional.of(key));
  }

  boolean hasUsage() {
    return inputTokens != 0 || outputTokens != 0;
  }

  /** Whether it stores nothing, and only asks whether the lease is still in force. */
  boolean saysNothing() {
    return !changesJob() && logLines.isEmpty() && items.isEmpty();
  }

  /** Whether some of it is stored in the job's own row. */
  boolean changesJob() {
    return hasUsage() || !progress.equals(Progress.NONE);
  }
}
