package dev.holdfast.tenant;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import javax.sql.DataSource;
import org.jdbi.v3.core.ConnectionFactory;
import org.postgresql.PGConnection;
import org.postgresql.core.BaseConnection;
import org.postgresql.core.TransactionState;

/**
 * Connections of an application's pool. A connection that turned out to lead to a read-only server
 * is aborted before it is given back: a pool would test it, find it alive and hand it out again,
 * although the primary that it leads to has become a standby. Thread-safe.
 */
final class PoolConnections implements ConnectionFactory {

  private final DataSource pool;
  private final Set<Connection> distrusted = ConcurrentHashMap.newKeySet();
  private final Set<Connection> switchedOn = ConcurrentHashMap.newKeySet();
  private volatile boolean commitsWhenTold; // the pool's own connections have no autocommit

  PoolConnections(DataSource pool) {
    this.pool = pool;
  }

  @Override
  public Connection openConnection() throws SQLException {
    Connection connection = pool.getConnection();
    try {
      if (!connection.getAutoCommit()) {
        switchOn(connection);
      }
      return connection;
    } catch (SQLException | RuntimeException e) { // refused, or broken: its pool must get it back
      connection.close();
      throw e;
    }
  }

  // The connection is not in autocommit mode. Some pools hand out no others, and what is written on
  // them would be lost. But it may also be that of a transaction that this thread is in: some
  // frameworks hand it out to every caller on the thread. That is refused. To switch autocommit on
  // would commit the application's transaction; to join it would tie to it the jobs of other
  // threads, which are stored together with this thread's.
  private void switchOn(Connection connection) throws SQLException {
    boolean isUnused = commitsWhenTold && isIdle(connection);
    if (!isUnused && isSomebodys(connection)) {
      throw new HoldfastException(
          ErrorCode.BAD_CONFIG,
          "this thread is in a transaction, and the DataSource lends out its connection: for a job"
              + " that is part of it, call enqueue(connection, job) with that connection; for"
              + " everything else, give Holdfast the DataSource behind this one");
    }
    commitsWhenTold = true;
    connection.setAutoCommit(true);
    switchedOn.add(connection);
  }

  private static boolean isIdle(Connection connection) throws SQLException {
    return connection.unwrap(BaseConnection.class).getTransactionState() == TransactionState.IDLE;
  }

  // If a second request gets the same connection, it is that of this thread's transaction. To be in
  // a transaction is no proof: a pool's test of a connection can leave it in one, too.
  private boolean isSomebodys(Connection connection) {
    try (Connection another = pool.getConnection()) {
      return another.unwrap(PGConnection.class).equals(connection.unwrap(PGConnection.class));
    } catch (SQLException e) {
      return false; // no second one left; a transaction's would be handed out again
    }
  }

  @Override
  public void closeConnection(Connection connection) throws SQLException {
    try (connection) {
      if (distrusted.remove(connection)) {
        connection.abort(Runnable::run);
      }
      if (switchedOn.remove(connection) && !connection.isClosed()) {
        connection.setAutoCommit(false);
      }
    }
  }

  /** Marks a connection that is to be aborted when it is given back. */
  void distrust(Connection connection) {
    distrusted.add(connection);
  }

  boolean isTrusted(Connection connection) {
    return !distrusted.contains(connection);
  }
}
