package dev.holdfast.tenant;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import java.sql.Connection;
import java.sql.SQLException;

/**
 * Checks that connections are READ COMMITTED. A transaction that has waited for a lock reads again
 * what the lock guards, and must then see what others committed; only READ COMMITTED shows that. A
 * pool with another isolation is refused at once, because otherwise two jobs could some day get the
 * same resource.
 */
final class Isolation {

  private volatile boolean checked;

  void check(Db db) {
    if (checked) {
      return;
    }
    try (Connection connection = db.connections().openConnection()) {
      check(connection, ErrorCode.BAD_CONFIG);
      checked = true;
    } catch (SQLException e) {
      throw SqlErrors.translated("connect", e);
    }
  }

  static void check(Connection connection, ErrorCode code) throws SQLException {
    if (connection.getTransactionIsolation() != Connection.TRANSACTION_READ_COMMITTED) {
      throw new HoldfastException(
          code,
          "the connection's transaction isolation is not READ COMMITTED, which Holdfast needs");
    }
  }
}
