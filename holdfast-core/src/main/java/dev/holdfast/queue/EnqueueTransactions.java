package dev.holdfast.queue;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.tenant.Db;
import dev.holdfast.tenant.SqlErrors;
import dev.holdfast.tenant.Tenant;
import dev.holdfast.wake.Announcer;
import java.sql.Connection;
import java.sql.SQLException;
import org.jdbi.v3.core.JdbiException;

/**
 * Provides the connections and transactions in which new jobs are stored: Holdfast's own, or the
 * caller's. Thread-safe.
 */
final class EnqueueTransactions {

  private final String tenant;
  private final Db db;
  private final Lanes lanes;
  private final Announcer announcer;

  EnqueueTransactions(Tenant tenant, Lanes lanes, Announcer announcer) {
    this.tenant = tenant.name().value();
    this.db = tenant.db();
    this.lanes = lanes;
    this.announcer = announcer;
  }

  <R> R withConnection(Db.Work<R> work) {
    try {
      return db.withConnection(work);
    } catch (SQLException | JdbiException e) {
      throw refused(e);
    }
  }

  /** For work that waits for no other transaction: a server that does not answer is given up. */
  <R> R impatiently(Db.Work<R> work) {
    try {
      return db.withImpatientConnection(work);
    } catch (SQLException | JdbiException e) {
      throw refused(e);
    }
  }

  <R> R inTransaction(Db.Work<R> work) {
    return withConnection(connection -> inTransaction(connection, work));
  }

  /**
   * Stores jobs in the caller's transaction; workers hear of them when it commits.
   *
   * @param mayExist whether some of the jobs may exist already; the transaction must then be READ
   *     COMMITTED
   * @throws HoldfastException for a connection in autocommit mode: a caller that passes a
   *     connection wants the job to commit together with other writes, and there it would not
   */
  <R> R inCallersTransaction(Connection connection, boolean mayExist, Db.Work<R> work) {
    Db.Work<R> announced =
        own -> {
          if (mayExist) {
            Db.requireReadCommitted(own);
          }
          R result = work.on(own);
          announcer.announceOnCommit(own, tenant);
          return result;
        };
    try {
      if (connection.getAutoCommit()) {
        throw new HoldfastException(
            ErrorCode.INVALID_ARGUMENT,
            "connection: it commits each statement by itself, so the job would be part of no"
                + " transaction of yours; call setAutoCommit(false) first, or enqueue without a"
                + " connection");
      }
      return announced.on(connection);
    } catch (SQLException | JdbiException e) {
      throw refused(e);
    }
  }

  private HoldfastException refused(Exception e) {
    if (Lanes.isOfAnotherTenant(e)) {
      lanes.forget();
      return new HoldfastException(
          ErrorCode.STATE_CONFLICT,
          "tenant " + tenant + " was dropped and made anew; try again",
          e);
    }
    return SqlErrors.translated("enqueue", e);
  }

  // Autocommit is switched on only after a rollback, because switching it on commits an open
  // transaction.
  private static void undo(Connection connection, Throwable why) {
    try {
      connection.rollback();
      connection.setAutoCommit(true);
    } catch (SQLException e) {
      why.addSuppressed(e);
    }
  }

  static <R> R inTransaction(Connection connection, Db.Work<R> work) throws SQLException {
    connection.setAutoCommit(false);
    R result;
    try {
      result = work.on(connection);
      connection.commit();
    } catch (Throwable e) { // after an Error too, or autocommit would store a part
      undo(connection, e);
      throw e;
    }
    connection.setAutoCommit(true);
    return result;
  }
}
