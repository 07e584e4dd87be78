package dev.holdfast.job;

import dev.holdfast.error.HoldfastException;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;

/**
 * How far an attempt got. The next attempt is given the progress that was stored last. A field left
 * empty keeps its stored value.
 */
public record Progress(
    Optional<String> cursor,
    OptionalLong progressCount,
    OptionalLong resultCount,
    OptionalDouble percent,
    Optional<String> message) {

  public static final Progress NONE =
      new Progress(
          Optional.empty(),
          OptionalLong.empty(),
          OptionalLong.empty(),
          OptionalDouble.empty(),
          Optional.empty());

  public Progress {
    cursor.ifPresent(text -> {
      if (text.length() > Limits.CURSOR_CHARS || text.indexOf('\0') >= 0) {
        throw HoldfastException.invalid(
            "cursor", text.length() + " characters", "at most " + Limits.CURSOR_CHARS + ", no NUL");
      }
    });
    progressCount.ifPresent(count -> checkCount("progress_count", count));
    resultCount.ifPresent(count -> checkCount("result_count", count));
    percent.ifPresent(share -> {
      if (!(share >= 0 && share <= 100)) {
        throw HoldfastException.invalid("percent", share, "0 to 100");
      }
    });
    message = message.map(text -> Limits.cut(text, Limits.LOG_LINE_CHARS));
  }

  /** This progress, with the fields that {@code later} sets. */
  public Progress with(Progress later) {
    return new Progress(
        later.cursor.or(() -> cursor),
        later.progressCount.isPresent() ? later.progressCount : progressCount,
        later.resultCount.isPresent() ? later.resultCount : resultCount,
        later.percent.isPresent() ? later.percent : percent,
        later.message.or(() -> message));
  }

  public Progress withCursor(String cursor) {
    return new Progress(Optional.of(cursor), progressCount, resultCount, percent, message);
  }

  public Progress withProgressCount(long count) {
    return new Progress(cursor, OptionalLong.of(count), resultCount, percent, message);
  }

  public Progress withResultCount(long count) {
    return new Progress(cursor, progressCount, OptionalLong.of(count), percent, message);
  }

  public Progress withPercent(double percent) {
    return new Progress(cursor, progressCount, resultCount, OptionalDouble.of(percent), message);
  }

  public Progress withMessage(String message) {
    return new Progress(cursor, progressCount, resultCount, percent, Optional.of(message));
  }

  private static void checkCount(String field, long count) {
    if (count < 0) {
      throw HoldfastException.invalid(field, count, "0 or more");
    }
  }
}
