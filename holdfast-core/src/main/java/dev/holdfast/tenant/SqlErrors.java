package dev.holdfast.tenant;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Causes;
import java.sql.SQLException;
import java.util.Optional;
import org.jdbi.v3.core.ConnectionException;

/** Tells what a database error means, by its SQLSTATE. */
public final class SqlErrors {

  private static final String READ_ONLY = "25006";
  private static final String DISK_FULL = "53100";
  private static final String SILENT_TOO_LONG = "25P03";
  private static final String LOCK_TIMEOUT = "55P03";
  private static final String CANCELLED = "57014";

  private static final int MOST_WRAPPINGS = 10; // causes can form a circle

  private SqlErrors() {}

  /** Whether the database reported the error, however it was wrapped since. */
  public static boolean isSql(Throwable e) {
    return sqlException(e).isPresent();
  }

  /** Whether the data itself is the problem, so that sending it again would fail again. */
  public static boolean isBadData(Throwable e) {
    String state = state(e);
    return state.startsWith("22") || state.startsWith("23") || state.equals("54000");
  }

  /** Whether the schema or its tables no longer exist. */
  public static boolean isTenantGone(Throwable e) {
    return state(e).equals("42P01") || state(e).equals("3F000");
  }

  /**
   * Whether the same statement may succeed later: the database is unreachable, restarting,
   * read-only or short of something, or ended an idle or waiting transaction; or two transactions
   * conflicted.
   */
  public static boolean isPassing(Throwable e) {
    String state = state(e);
    return first(ConnectionException.class, e).isPresent()
        || state.startsWith("08")
        || state.startsWith("53")
        || state.startsWith("57")
        || state.startsWith("40")
        || state.equals(SILENT_TOO_LONG)
        || state.equals(LOCK_TIMEOUT)
        || state.equals(READ_ONLY);
  }

  /**
   * Whether the sender's own time limit ended the statement; {@link #isPassing} is then true as
   * well.
   */
  public static boolean isImpatience(Throwable e) {
    return isLockTimeout(e) || state(e).equals(CANCELLED);
  }

  /** Whether another transaction kept a lock for longer than the statement was to wait. */
  public static boolean isLockTimeout(Throwable e) {
    return state(e).equals(LOCK_TIMEOUT);
  }

  /** Whether the connection leads to a server that takes no writes. */
  public static boolean isReadOnly(Throwable e) {
    return state(e).equals(READ_ONLY);
  }

  /** Whether the server's disk is full. */
  public static boolean isDiskFull(Throwable e) {
    return state(e).equals(DISK_FULL);
  }

  /** Whether a row with the same key exists already. */
  public static boolean isDuplicate(Throwable e) {
    return state(e).equals("23505");
  }

  public static boolean violates(Throwable e, String constraint) {
    return state(e).equals("23514") && message(e).contains("\"" + constraint + "\"");
  }

  public static String message(Throwable e) {
    return String.valueOf(sqlException(e).map(Throwable::getMessage).orElseGet(e::toString));
  }

  /**
   * The exception for callers, who should not have to know the database library.
   *
   * @param doing what failed, for the message
   */
  public static HoldfastException translated(String doing, Throwable e) {
    String message = doing + ": " + message(e);
    if (state(e).equals("22P02") || state(e).equals("22P05")) {
      return failure(ErrorCode.INVALID_ARGUMENT, "args or result is not JSON: " + message(e), e);
    }
    if (isBadData(e)) {
      return failure(ErrorCode.INVALID_ARGUMENT, message, e);
    }
    return isTenantGone(e)
        ? failure(ErrorCode.NOT_FOUND, "there is no such tenant, or no longer", e)
        : failure(ErrorCode.DATABASE, message, e);
  }

  // JDBI's own exceptions are left out: they quote bound values, and arguments and results would be
  // in every log.
  private static HoldfastException failure(ErrorCode code, String message, Throwable e) {
    Throwable cause =
        e instanceof ConnectionException ? e : sqlException(e).map(Throwable.class::cast).orElse(e);
    HoldfastException failure = new HoldfastException(code, message, cause);
    for (Throwable suppressed : cause.equals(e) ? new Throwable[0] : e.getSuppressed()) {
      failure.addSuppressed(suppressed);
    }
    return failure;
  }

  private static String state(Throwable e) {
    return sqlException(e).map(SQLException::getSQLState).orElse("");
  }

  private static Optional<SQLException> sqlException(Throwable e) {
    return first(SQLException.class, e);
  }

  // The exception may have been wrapped, once or more.
  private static <T extends Throwable> Optional<T> first(Class<T> type, Throwable thrown) {
    return Causes.first(type, thrown, MOST_WRAPPINGS);
  }
}
