package dev.holdfast.tenant;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import java.sql.Connection;
import java.sql.SQLException;

/**
 * Whoever waited for a lock looks again at what it guards, and must then see what the others did.
 * Only READ COMMITTED shows that. A pool that hands out anything else is refused, once and clearly,
 * instead of giving one resource to two jobs some day.
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
