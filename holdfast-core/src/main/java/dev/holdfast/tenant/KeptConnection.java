package dev.holdfast.tenant;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.jdbi.v3.core.ConnectionFactory;

/**
 * Connections of a pool, of which one, after {@link #keep}, is kept instead of being given back. A
 * worker's loops share it: a pool would test the connection before each poll, which doubles the
 * traffic of an idle worker, and heartbeats would wait in line with the application. Thread-safe:
 * while the kept connection is in use, others are opened.
 */
final class KeptConnection implements ConnectionFactory, AutoCloseable {

  private final PoolConnections connections;
  private final AtomicReference<Optional<Connection>> kept =
      new AtomicReference<>(Optional.empty());
  private volatile boolean keeping;
  private volatile int poolsPatience; // the same for all of its connections

  KeptConnection(PoolConnections connections) {
    this.connections = connections;
  }

  @Override
  public Connection openConnection() throws SQLException {
    Optional<Connection> connection = kept.getAndSet(Optional.empty());
    return connection.isPresent() && !connection.get().isClosed() ? connection.get() : open();
  }

  /** Connections that are not kept, with the pool's own network timeout. */
  PoolConnections pool() {
    return connections;
  }

  private Connection open() throws SQLException {
    Connection connection = connections.openConnection();
    try {
      poolsPatience = Patience.limit(connection);
      return connection;
    } catch (SQLException | RuntimeException e) { // it broke; its pool must get it back
      connections.closeConnection(connection);
      throw e;
    }
  }

  private void giveBack(Connection connection) throws SQLException {
    try {
      Patience.restore(connection, poolsPatience);
    } finally {
      connections.closeConnection(connection);
    }
  }

  @Override
  public void closeConnection(Connection connection) throws SQLException {
    boolean isKept =
        keeping
            && connections.isTrusted(connection)
            && !connection.isClosed()
            && connection.getAutoCommit()
            && kept.compareAndSet(Optional.empty(), Optional.of(connection));
    if (!isKept) {
      giveBack(connection);
    }
  }

  /** Marks a connection to a server that takes no writes, so that it is not used again. */
  void distrust(Connection connection) {
    connections.distrust(connection);
  }

  void keep() {
    keeping = true;
  }

  /** Gives the connection back; later ones are not kept. */
  @Override
  public void close() throws SQLException {
    keeping = false;
    Optional<Connection> connection = kept.getAndSet(Optional.empty());
    if (connection.isPresent()) {
      giveBack(connection.get());
    }
  }
}
