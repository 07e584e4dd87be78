package dev.holdfast.job;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import java.util.stream.Collectors;

/**
 * Why an attempt failed. Every failure has a code and a message. Texts that are too long are cut.
 */
public record Failure(String code, String message, boolean retryable) {

  public static final String HANDLER_FAILED = "HANDLER_FAILED";
  public static final String LEASE_LOST = "LEASE_LOST";
  public static final String JOB_TIMEOUT = "JOB_TIMEOUT";
  public static final String TOKEN_LIMIT = "TOKEN_LIMIT";
  public static final String DRAINED = "DRAINED";

  private static final int MOST_CAUSES = 5;

  public Failure {
    code = Limits.cut(code.isBlank() ? HANDLER_FAILED : code, Limits.NAME_CHARS);
    message = Limits.cut(message, Limits.ERROR_MESSAGE_CHARS);
  }

  public static Failure retryable(String code, String message) {
    return new Failure(code, message, true);
  }

  public static Failure permanent(String code, String message) {
    return new Failure(code, message, false);
  }

  /** Not retried, because the next attempt would take too long as well. */
  public static Failure timeout(TimeLimit limit) {
    return permanent(
        JOB_TIMEOUT,
        "The attempt ran longer than "
            + limit.length().map(length -> length.toMillis() / 1000.0 + " s").orElse("allowed"));
  }

  /** Not retried, because the same outcome could not be stored the next time either. */
  public static Failure unstorable(String why) {
    return permanent("UNSTORABLE_OUTCOME", "The outcome could not be stored: " + why);
  }

  /**
   * The failure for what a handler threw. Arguments that cannot be read may be retried, too: the
   * next attempt may run on a newer worker that can read them.
   */
  public static Failure of(Throwable thrown) {
    boolean unreadable =
        thrown instanceof HoldfastException refusal && refusal.code() == ErrorCode.BAD_PAYLOAD;
    return retryable(unreadable ? ErrorCode.BAD_PAYLOAD.name() : HANDLER_FAILED, describe(thrown));
  }

  private static String describe(Throwable thrown) {
    return Causes.of(thrown, 1 + MOST_CAUSES).stream()
        .map(Failure::wordsOf)
        .collect(Collectors.joining("; caused by "));
  }

  // An exception class may override toString(), which may then return null, or throw even an Error.
  private static String wordsOf(Throwable thrown) {
    try {
      return String.valueOf(thrown.toString());
    } catch (Throwable e) {
      return thrown.getClass().getName();
    }
  }
}
