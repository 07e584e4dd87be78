package dev.holdfast.tenant;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jdbi.v3.core.ConnectionFactory;
import org.postgresql.PGConnection;
import org.postgresql.PGStatement;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether a connection has a session of its own. Behind a pooler in transaction mode (PgBouncer's
 * {@code pool_mode = transaction}) it has not: each transaction runs in whichever session is free.
 * The engine keeps no state in a session, so that works, except for two things: a statement
 * prepared in one session is unknown in the next, and a listener hears nothing.
 *
 * @param sharesSessions whether there is a pooler in transaction mode
 * @param keepsStatements whether prepared statements are known in every session
 */
public record Pooling(boolean sharesSessions, boolean keepsStatements) {

  private static final Logger log = LoggerFactory.getLogger(Pooling.class);

  static final Pooling NONE = new Pooling(false, true);

  private static final int MOST_ASKED = 3;
  private static final int PATIENCE_MILLIS = 2_000;
  private static final String NO_SUCH_STATEMENT = "26000";
  private static final String THERE_ALREADY = "42P05";
  private static final String NO_RESULT = "02000"; // another client's, which returns nothing
  private static final Set<String> STATEMENT_MIX_UPS =
      Set.of(NO_SUCH_STATEMENT, THERE_ALREADY, NO_RESULT);
  private static final String WHO = "SELECT pg_backend_pid(), '%s'";

  /** Finds out; one query is enough where there is no pooler. */
  public static Pooling of(ConnectionFactory connections) {
    try {
      Connection one = connections.openConnection();
      try {
        return of(one, connections);
      } finally {
        connections.closeConnection(one);
      }
    } catch (SQLException e) {
      throw SqlErrors.translated("connect", e);
    }
  }

  // When a connection begins, a pooler reports a process id that is not the session's, which it
  // does not know yet.
  private static Pooling of(Connection one, ConnectionFactory others) throws SQLException {
    if (!one.isWrapperFor(PGConnection.class)) {
      return NONE;
    }
    String ours = UUID.randomUUID().toString();
    try (PreparedStatement who = one.prepareStatement(WHO.formatted(ours))) {
      int said = one.unwrap(PGConnection.class).getBackendPID();
      if (ask(who, ours) == said) {
        return NONE;
      }
      one.setAutoCommit(false); // outside of a transaction the driver would prepare it once more
      int before = one.getNetworkTimeout();
      one.setNetworkTimeout(
          Runnable::run, PATIENCE_MILLIS); // a pooler without a free session lets us wait
      try {
        return behindAPooler(who, ours, others);
      } finally {
        restore(one);
        Patience.restore(one, before);
      }
    }
  }

  // Other connections take sessions and keep them. If one of them gets this connection's session,
  // or this connection gets another, sessions are shared. And once this connection's session is
  // taken, the next query shows whether another session knows the statement prepared here.
  private static Pooling behindAPooler(
      PreparedStatement who, String ours, ConnectionFactory connections) throws SQLException {
    who.unwrap(PGStatement.class).setPrepareThreshold(1); // prepared from now on
    List<Connection> others = new ArrayList<>();
    boolean taken = false;
    try {
      int session = askAlone(who, ours);
      while (others.size() < MOST_ASKED) {
        Optional<Other> other = takeSession(connections);
        if (other.isEmpty()) {
          break;
        }
        others.add(other.get().connection());
        taken = other.get().session() == session;
        if (askAlone(who, ours) != session) {
          return new Pooling(true, true);
        }
      }
      return NONE; // a pooler in session mode
    } catch (SQLException e) {
      if (!taken && !STATEMENT_MIX_UPS.contains(String.valueOf(e.getSQLState()))) {
        throw e;
      }
      return new Pooling(true, false);
    } finally {
      for (Connection other : others) {
        giveBack(other, connections);
      }
    }
  }

  /** Another connection, in a transaction, and so in a session of its own for now. */
  private record Other(Connection connection, int session) {}

  // Empty when no other session is available: the pool is small, or all sessions of the pooler are
  // taken and it would let us wait for minutes. So a separate thread asks, and is left alone if it
  // takes too long.
  private static Optional<Other> takeSession(ConnectionFactory connections) {
    CompletableFuture<Other> asked = new CompletableFuture<>();
    Thread.ofVirtual()
        .start(() -> {
          try {
            Other other = open(connections);
            if (!asked.complete(other)) {
              giveBack(other.connection, connections);
            }
          } catch (SQLException e) {
            asked.completeExceptionally(e);
          }
        });
    try {
      return Optional.of(asked.get(PATIENCE_MILLIS, TimeUnit.MILLISECONDS));
    } catch (ExecutionException | TimeoutException e) {
      log.debug("No other session to compare with", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    asked.cancel(true);
    return Optional.empty();
  }

  private static Other open(ConnectionFactory connections) throws SQLException {
    Connection other = connections.openConnection();
    try {
      other.setAutoCommit(false);
      try (PreparedStatement who = other.prepareStatement(WHO.formatted(""))) {
        return new Other(other, ask(who, ""));
      }
    } catch (SQLException e) {
      giveBack(other, connections); // or its pool would lose it for good
      throw e;
    }
  }

  // The statement prepared here may be left in the session that this connection took.
  private static void giveBack(Connection other, ConnectionFactory connections) {
    try (Statement statement = other.createStatement()) {
      statement.execute("DEALLOCATE ALL");
    } catch (SQLException e) {
      log.debug("A session keeps what we prepared in it", e);
    }
    restore(other);
    try {
      connections.closeConnection(other);
    } catch (SQLException e) {
      log.debug("A connection could not be given back", e);
    }
  }

  private static void restore(Connection connection) {
    try {
      connection.rollback();
      connection.setAutoCommit(true);
    } catch (SQLException e) {
      log.debug("A connection is given back as it is", e); // it broke, and its pool sees that
    }
  }

  private static int askAlone(PreparedStatement who, String ours) throws SQLException {
    int session = ask(who, ours);
    who.getConnection().rollback();
    return session;
  }

  // Another session may know a different statement by the same name, and answer that one.
  private static int ask(PreparedStatement who, String ours) throws SQLException {
    try (ResultSet answer = who.executeQuery()) {
      if (!answer.next() || !ours.equals(answer.getString(2))) {
        throw new SQLException("somebody else's statement was run", NO_SUCH_STATEMENT);
      }
      return answer.getInt(1);
    }
  }

  /** Refuses connections on which every statement would fail from its fifth use on. */
  void check(ConnectionFactory connections) {
    if (!sharesSessions) {
      return;
    }
    log.info(
        "A pooler in transaction mode stands before the database{}",
        keepsStatements ? "" : "; it keeps no prepared statements");
    try {
      Connection connection = connections.openConnection();
      try {
        int threshold = connection.unwrap(PGConnection.class).getPrepareThreshold();
        if (!keepsStatements && threshold != 0) {
          throw new HoldfastException(
              ErrorCode.BAD_CONFIG,
              "a pooler in transaction mode that keeps no prepared statements stands before the"
                  + " database: add prepareThreshold=0 to the JDBC URL, or set"
                  + " max_prepared_statements in PgBouncer 1.21 or later");
        }
      } finally {
        connections.closeConnection(connection);
      }
    } catch (SQLException e) {
      throw SqlErrors.translated("connect", e);
    }
  }
}
