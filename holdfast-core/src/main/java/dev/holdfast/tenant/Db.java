package dev.holdfast.tenant;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.UUID;
import org.jdbi.v3.core.ConnectionFactory;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.HandleCallback;
import org.jdbi.v3.core.HandleConsumer;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.JdbiException;
import org.jdbi.v3.core.statement.SqlStatements;
import org.jdbi.v3.core.statement.TemplateEngine;

/**
 * Access to the tables of one schema: connections, and SQL rendered for that schema. Names are
 * always qualified, so nothing of a tenant is left on a pooled connection.
 *
 * <p>Also the one class that opens JDBI: every failure of its statements is thrown as a {@link
 * HoldfastException}, so that callers, inside the engine or outside, need not know the library.
 * {@link SqlErrors} can still tell what the database reported. Work in plain JDBC throws its {@link
 * SQLException} as it is.
 */
public record Db(SchemaName schema, ConnectionFactory connections, Jdbi jdbi) {

  /** How long a transaction of Holdfast's may be idle before the server ends it. */
  public static final Duration LONGEST_SILENCE = Duration.ofSeconds(5);

  // There is an index for everything that is looked up in a transaction. A planner whose statistics
  // say that a table is nearly empty would ignore it and read all rows, live and dead, once for
  // each row that is looked up. It might also compile the plan, which takes longer than running it.
  private static final String AS_OURS =
      """
      SET LOCAL idle_in_transaction_session_timeout = %d;
      SET LOCAL enable_seqscan = off;
      SET LOCAL jit = off
      """
          .formatted(LONGEST_SILENCE.toMillis());

  static Db on(ConnectionFactory connections, SchemaName schema) {
    return new Db(schema, connections, configured(Jdbi.create(connections)));
  }

  /** The same connections, another schema. */
  Db of(SchemaName schema) {
    return new Db(schema, connections, jdbi);
  }

  /**
   * Renders a statement for this schema. Statements are rendered once, where they are used, and
   * never put together from pieces.
   */
  public String sql(String template) {
    return schema.render(template);
  }

  /** The same for a statement that is run very often. */
  public Prepared prepared(String template) {
    return new Prepared(sql(template));
  }

  /** Runs work on a connection in autocommit mode. */
  public <R, X extends Exception> R withHandle(HandleCallback<R, X> work) throws X {
    try {
      return jdbi.withHandle(handle -> watched(handle, work));
    } catch (JdbiException e) {
      throw failed(e);
    }
  }

  public <X extends Exception> void useHandle(HandleConsumer<X> work) throws X {
    withHandle(work.asCallback());
  }

  /**
   * Runs work in one transaction, under the limits of {@link #continueAsOurs}: it must not pause.
   */
  public <R, X extends Exception> R inTransaction(HandleCallback<R, X> work) throws X {
    return inUnhurriedTransaction(handle -> {
      continueAsOurs(handle);
      return work.withHandle(handle);
    });
  }

  /**
   * Sets limits for the rest of a transaction. Locks end with their transaction, and that ends with
   * its process, but the server does not notice the end of a process that is frozen or cut off, and
   * others would wait for its locks. So from here on the server ends the transaction when it is
   * idle for {@link #LONGEST_SILENCE}. It also looks rows up by their index.
   */
  public static void continueAsOurs(Handle handle) {
    handle.execute(AS_OURS);
  }

  /**
   * Runs work in one transaction without these limits, for work of a handler, which may take its
   * time.
   */
  public <R, X extends Exception> R inUnhurriedTransaction(HandleCallback<R, X> work) throws X {
    try {
      return jdbi.inTransaction(handle -> watched(handle, work));
    } catch (JdbiException e) {
      throw failed(e);
    }
  }

  public <X extends Exception> void useTransaction(HandleConsumer<X> work) throws X {
    inTransaction(work.asCallback());
  }

  private <R, X extends Exception> R watched(Handle handle, HandleCallback<R, X> work) throws X {
    try {
      return work.withHandle(handle);
    } catch (Exception e) {
      distrustIfReadOnly(handle.getConnection(), e);
      throw e;
    }
  }

  private <R> R watched(Connection connection, Work<R> work) throws SQLException {
    try {
      return work.on(connection);
    } catch (Exception e) {
      distrustIfReadOnly(connection, e);
      throw e;
    }
  }

  // After a failover, a connection may lead to the server that is now the standby.
  private void distrustIfReadOnly(Connection connection, Exception e) {
    if (!SqlErrors.isReadOnly(e)) {
      return;
    }
    if (connections instanceof KeptConnection kept) {
      kept.distrust(connection);
    } else if (connections instanceof PoolConnections pool) {
      pool.distrust(connection);
    }
  }

  private HoldfastException failed(JdbiException e) {
    return SqlErrors.translated("schema " + schema.value(), e);
  }

  /** Work in plain JDBC. */
  @FunctionalInterface
  public interface Work<R> {
    R on(Connection connection) throws SQLException;
  }

  /** Runs plain JDBC on a connection of Holdfast's own, in autocommit mode. */
  public <R> R withConnection(Work<R> work) throws SQLException {
    try (Loan loan = new Loan(connections.openConnection(), connections)) {
      return watched(loan.connection, work);
    }
  }

  /**
   * The same for work that others may wait for and that itself waits for no lock: it gives up on a
   * server that does not answer.
   */
  public <R> R withImpatientConnection(Work<R> work) throws SQLException {
    return withConnection(connection -> {
      int before = Patience.limit(connection);
      try {
        return work.on(connection);
      } finally {
        Patience.restore(connection, before);
      }
    });
  }

  private record Loan(Connection connection, ConnectionFactory from) implements AutoCloseable {
    @Override
    public void close() throws SQLException {
      from.closeConnection(connection);
    }
  }

  /**
   * The same tables for work of a handler, which may take its time: over connections without
   * Holdfast's limits, which no other loop waits for.
   */
  public Db unhurried() {
    return connections instanceof KeptConnection kept ? on(kept.pool(), schema) : this;
  }

  /** A handle on a caller's connection: closing it leaves the connection open. */
  public static Handle borrowed(Connection connection) {
    ConnectionFactory lent =
        new ConnectionFactory() {
          @Override
          public Connection openConnection() {
            return connection;
          }

          @Override
          public void closeConnection(Connection ignored) {
            // The caller closes it.
          }
        };
    return configured(Jdbi.create(lent)).open();
  }

  /** Refuses a caller's transaction in which a repeated job could be stored twice. */
  public static void requireReadCommitted(Connection connection) throws SQLException {
    Isolation.check(connection, ErrorCode.INVALID_ARGUMENT);
  }

  private static Jdbi configured(Jdbi jdbi) {
    jdbi.setHandleScope(new NoSharing());
    jdbi.getConfig(SqlStatements.class).setTemplateEngine(TemplateEngine.NOP);
    jdbi.registerArrayType(UUID.class, "uuid");
    jdbi.registerArrayType(String.class, "text");
    jdbi.registerArrayType(Long.class, "bigint");
    jdbi.registerArrayType(Integer.class, "integer");
    jdbi.registerArrayType(Boolean.class, "boolean");
    jdbi.registerArrayType(OffsetDateTime.class, "timestamptz");
    return jdbi;
  }
}
