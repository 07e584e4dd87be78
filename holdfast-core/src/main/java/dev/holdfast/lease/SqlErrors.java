package dev.holdfast.lease;

import java.sql.SQLException;
import java.util.Optional;
import org.jdbi.v3.core.JdbiException;

/** What the database means by an error, told by its SQLSTATE. */
final class SqlErrors {

  private SqlErrors() {}

  /** The row itself is the problem; sending it again would fail again. */
  static boolean isBadData(JdbiException e) {
    String state = state(e);
    return state.startsWith("22") || state.startsWith("23") || state.equals("54000");
  }

  /** The schema or its tables are not there any more. */
  static boolean isTenantGone(JdbiException e) {
    return state(e).equals("42P01") || state(e).equals("3F000");
  }

  static String message(JdbiException e) {
    return sqlException(e).map(Throwable::getMessage).orElseGet(e::toString);
  }

  private static String state(JdbiException e) {
    return sqlException(e).map(SQLException::getSQLState).orElse("");
  }

  private static Optional<SQLException> sqlException(JdbiException e) {
    return e.getCause() instanceof SQLException cause ? Optional.of(cause) : Optional.empty();
  }
}
