package dev.holdfast.tenant;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import java.sql.SQLException;
import java.util.Optional;
import org.jdbi.v3.core.ConnectionException;

/** What the database means by an error, told by its SQLSTATE. */
public final class SqlErrors {

  private static final String READ_ONLY = "25006";
  private static final String SILENT_TOO_LONG = "25P03";
  private static final String LOCK_TIMEOUT = "55P03";

  private SqlErrors() {}

  /** The row itself is the problem; sending it again would fail again. */
  public static boolean isBadData(Throwable e) {
    String state = state(e);
    return state.startsWith("22") || state.startsWith("23") || state.equals("54000");
  }

  /** The schema or its tables are not there any more. */
  public static boolean isTenantGone(Throwable e) {
    return state(e).equals("42P01") || state(e).equals("3F000");
  }

  /**
   * The database is away, restarting, out of something, or ended our transaction because we paused
   * in the midst of it; or two transactions got in each other's way.
   */
  public static boolean isPassing(Throwable e) {
    String state = state(e);
    return e instanceof ConnectionException
        || state.startsWith("08")
        || state.startsWith("53")
        || state.startsWith("57")
        || state.startsWith("40")
        || state.equals(SILENT_TOO_LONG)
        || state.equals(LOCK_TIMEOUT)
        || state.equals(READ_ONLY);
  }

  /** Somebody keeps what we wanted to lock for longer than we want to wait. */
  public static boolean isLockTimeout(Throwable e) {
    return state(e).equals(LOCK_TIMEOUT);
  }

  /** A connection to a server that is no longer the one to write to. */
  public static boolean isReadOnly(Throwable e) {
    return state(e).equals(READ_ONLY);
  }

  /** A row with the same key is there already. */
  public static boolean isDuplicate(Throwable e) {
    return state(e).equals("23505");
  }

  public static boolean violates(Throwable e, String constraint) {
    return state(e).equals("23514") && message(e).contains("\"" + constraint + "\"");
  }

  public static String message(Throwable e) {
    return String.valueOf(sqlException(e).map(Throwable::getMessage).orElseGet(e::toString));
  }

  /** For callers of the API, who should not have to know what we talk to the database with. */
  public static HoldfastException translated(String doing, Throwable e) {
    if (state(e).equals("22P02") || state(e).equals("22P05")) {
      return new HoldfastException(
          ErrorCode.INVALID_ARGUMENT, "args is not JSON: " + message(e), e);
    }
    return isBadData(e)
        ? new HoldfastException(ErrorCode.INVALID_ARGUMENT, doing + ": " + message(e), e)
        : new HoldfastException(ErrorCode.DATABASE, doing + ": " + message(e), e);
  }

  private static String state(Throwable e) {
    return sqlException(e).map(SQLException::getSQLState).orElse("");
  }

  private static Optional<SQLException> sqlException(Throwable e) {
    if (e instanceof SQLException direct) {
      return Optional.of(direct);
    }
    return e.getCause() instanceof SQLException cause ? Optional.of(cause) : Optional.empty();
  }
}
