package dev.holdfast.tenant;

import java.sql.Connection;
import java.sql.SQLException;

/**
 * Limits how long a connection waits for a server that does not answer. A server that lost its
 * power, or a firewall that dropped the connection, answers nothing and closes nothing: without a
 * limit, a read waits for a quarter of an hour.
 */
final class Patience {

  private static final int MOST_MILLIS = 30_000;
  private static final int FOR_EVER = 0;

  private Patience() {}

  /** Sets the limit, unless the connection has a shorter one; returns the timeout of before. */
  static int limit(Connection connection) throws SQLException {
    int before = connection.getNetworkTimeout();
    if (before == FOR_EVER || before > MOST_MILLIS) {
      connection.setNetworkTimeout(Runnable::run, MOST_MILLIS);
    }
    return before;
  }

  /** Restores the timeout that the pool had set. */
  static void restore(Connection connection, int before) throws SQLException {
    if (!connection.isClosed()) {
      connection.setNetworkTimeout(Runnable::run, before);
    }
  }
}
