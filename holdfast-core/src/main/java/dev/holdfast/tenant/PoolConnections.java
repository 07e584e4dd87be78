package dev.holdfast.tenant;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import javax.sql.DataSource;
import org.jdbi.v3.core.ConnectionFactory;

/**
 * Connections of an application's pool. One that turned out to lead to a server without writes is
 * cut before it is given back: a pool would test it, find it alive, and lend it out again, to the
 * standby that the primary has become. Thread-safe.
 */
final class PoolConnections implements ConnectionFactory {

  private final DataSource pool;
  private final Set<Connection> distrusted = ConcurrentHashMap.newKeySet();

  PoolConnections(DataSource pool) {
    this.pool = pool;
  }

  @Override
  public Connection openConnection() throws SQLException {
    Connection connection = pool.getConnection();
    // Some pools hand out connections that commit only when told to; our statements would be lost.
    if (!connection.getAutoCommit()) {
      connection.setAutoCommit(true);
    }
    return connection;
  }

  @Override
  public void closeConnection(Connection connection) throws SQLException {
    if (distrusted.remove(connection)) {
      connection.abort(Runnable::run);
    }
    connection.close();
  }

  /** Not to be used again, once it is given back. */
  void distrust(Connection connection) {
    distrusted.add(connection);
  }

  boolean isTrusted(Connection connection) {
    return !distrusted.contains(connection);
  }
}
