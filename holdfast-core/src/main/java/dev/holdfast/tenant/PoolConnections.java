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
 * Connections of an application's pool. One that turned out to lead to a server without writes is
 * cut before it is given back: a pool would test it, find it alive, and lend it out again, to the
 * standby that the primary has become. Thread-safe.
 */
final class PoolConnections implements ConnectionFactory {

  private final DataSource pool;
  private final Set<Connection> distrusted = ConcurrentHashMap.newKeySet();
  private final Set<Connection> switchedOn = ConcurrentHashMap.newKeySet();
  private volatile boolean commitsWhenTold; // this pool's connections do, nobody's transaction

  PoolConnections(DataSource pool) {
    this.pool = pool;
  }

  @Override
  public Connection openConnection() throws SQLException {
    Connection connection = pool.getConnection();
    if (!connection.getAutoCommit()) {
      switchOn(connection);
    }
    return connection;
  }

  // One that commits only when told to. Some pools lend no others, and what we do on them would be
  // lost. But it may also be a transaction that this thread is in: frameworks lend its connection
  // to whoever asks. That is refused. To switch it on would commit what is not ours to commit; and
  // to join it would tie to it what others wanted, whose jobs travel with ours.
  private void switchOn(Connection connection) throws SQLException {
    boolean isUnused = commitsWhenTold && isIdle(connection);
    if (!isUnused && isSomebodys(connection)) {
      connection.close();
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

  // Whose connection it is shows when another is asked for, and is the same. One of a pool's may be
  // in a transaction, too: that of the question whether it lives.
  private boolean isSomebodys(Connection connection) {
    try (Connection another = pool.getConnection()) {
      return another.unwrap(PGConnection.class).equals(connection.unwrap(PGConnection.class));
    } catch (SQLException e) {
      return false; // no other to be had: somebody's would have been lent again at once
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

  /** Not to be used again, once it is given back. */
  void distrust(Connection connection) {
    distrusted.add(connection);
  }

  boolean isTrusted(Connection connection) {
    return !distrusted.contains(connection);
  }
}
