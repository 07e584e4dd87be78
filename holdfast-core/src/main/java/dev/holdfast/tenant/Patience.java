package dev.holdfast.tenant;

import java.sql.Connection;
import java.sql.SQLException;

/**
 * How long we listen to a server that says nothing. One that lost its power, or a firewall that
 * forgot us, answers nothing and closes nothing: without this, whoever reads from it waits for a
 * quarter of an hour.
 */
final class Patience {

  private static final int MOST_MILLIS = 30_000;
  private static final int FOR_EVER = 0;

  private Patience() {}

  /** Listens no longer than that from now on; answers how long it was before. */
  static int limit(Connection connection) throws SQLException {
    int before = connection.getNetworkTimeout();
    if (before == FOR_EVER || before > MOST_MILLIS) {
      connection.setNetworkTimeout(Runnable::run, MOST_MILLIS);
    }
    return before;
  }

  /** As its pool lent it. */
  static void restore(Connection connection, int before) throws SQLException {
    if (!connection.isClosed()) {
      connection.setNetworkTimeout(Runnable::run, before);
    }
  }
}
