package dev.holdfast.fault;

import dev.holdfast.fault.FaultyPool.Planned;
import dev.holdfast.fault.Point.Kind;
import dev.holdfast.rig.Proxies;
import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyIn;
import org.postgresql.copy.CopyManager;
import org.postgresql.core.BaseConnection;
import org.postgresql.core.TransactionState;
import org.postgresql.util.PSQLException;
import org.postgresql.util.PSQLState;

/** A connection while somebody has it. Its statements and commits are points. */
final class Lent {

  // Whoever tidies up after a failure need not know that there is nothing left to tidy.
  private static final Set<String> TIDYING =
      Set.of("rollback", "isClosed", "close", "abort", "setAutoCommit", "getAutoCommit");

  private final FaultyPool pool;
  private final Connection physical;
  private boolean givenBack;
  private boolean lost;

  Lent(FaultyPool pool, Connection physical) {
    this.pool = pool;
    this.physical = physical;
  }

  Connection connection() {
    return Proxies.make(Connection.class, this::call);
  }

  private @Nullable Object call(Method method, Object[] arguments) throws Throwable {
    String name = method.getName();
    if (givenBack && !name.equals("close") && !name.equals("isClosed")) {
      pool.complain(name + " on a connection that was given back");
    }
    if (lost && !TIDYING.contains(name)) {
      pool.complain(name + " on a connection that was lost");
    }
    return switch (name) {
      case "close" -> {
        giveBack();
        yield null;
      }
      case "isClosed" -> givenBack || physical.isClosed();
      case "commit" -> around(new Point(Kind.COMMIT, "", true), () -> commit());
      case "prepareStatement" -> {
        PreparedStatement made = (PreparedStatement) method.invoke(physical, arguments);
        yield statement(PreparedStatement.class, made, (String) arguments[0]);
      }
      case "createStatement" ->
          statement(Statement.class, (Statement) method.invoke(physical, arguments), "");
      case "unwrap" ->
          arguments[0].equals(PGConnection.class)
              ? pgConnection()
              : method.invoke(physical, arguments);
      default -> method.invoke(physical, arguments);
    };
  }

  private @Nullable Object commit() throws SQLException {
    physical.commit();
    return null;
  }

  private void giveBack() throws SQLException {
    if (givenBack) {
      return;
    }
    givenBack = true;
    if (!physical.isClosed()) {
      TransactionState state = physical.unwrap(BaseConnection.class).getTransactionState();
      if (!physical.getAutoCommit() || state != TransactionState.IDLE) {
        pool.complain("given back in the middle of a transaction");
        physical.rollback();
        physical.setAutoCommit(true);
      }
    }
    pool.giveBack(physical);
  }

  private <S extends Statement> S statement(Class<S> type, S statement, String prepared) {
    return Proxies.make(
        type,
        (method, arguments) -> {
          if (!method.getName().startsWith("execute")) {
            return method.invoke(statement, arguments);
          }
          String sql = arguments.length > 0 ? (String) arguments[0] : prepared;
          return around(
              new Point(Kind.STATEMENT, sql, physical.getAutoCommit()),
              () -> method.invoke(statement, arguments));
        });
  }

  private PGConnection pgConnection() {
    return Proxies.make(
        PGConnection.class,
        (method, arguments) ->
            method.getName().equals("getCopyAPI")
                ? copier()
                : method.invoke(physical.unwrap(PGConnection.class), arguments));
  }

  // What is copied is there once the end was said; that is the point.
  private CopyManager copier() throws SQLException {
    return new CopyManager(physical.unwrap(BaseConnection.class)) {
      @Override
      public CopyIn copyIn(String sql) throws SQLException {
        Point point = new Point(Kind.COPY, sql, physical.getAutoCommit());
        Planned planned = pool.pass(point);
        if (planned.before().isPresent()) {
          throw strike(planned.before().get());
        }
        CopyIn copy = super.copyIn(sql);
        return Proxies.make(
            CopyIn.class,
            (method, arguments) -> {
              Object result = method.invoke(copy, arguments);
              if (method.getName().equals("endCopy") && planned.after().isPresent()) {
                throw strike(planned.after().get());
              }
              return result;
            });
      }
    };
  }

  private interface Work {
    @Nullable Object run() throws Throwable;
  }

  private @Nullable Object around(Point point, Work work) throws Throwable {
    Planned planned = pool.pass(point);
    if (planned.before().isPresent()) {
      throw refuse(point, planned.before().get());
    }
    if (planned.after().isPresent() && planned.after().get().isSaidByTheServer()) {
      if (point.kind() == Kind.COMMIT) {
        throw refuse(point, planned.after().get());
      }
      if (point.commits()) {
        throw takenBack(work, planned.after().get());
      }
    }
    Object result = work.run();
    pool.committed(point);
    if (planned.after().isPresent()) {
      throw strike(planned.after().get());
    }
    return result;
  }

  /** A commit that the server refuses has ended the transaction. */
  private SQLException refuse(Point point, Fault fault) throws SQLException {
    SQLException said = strike(fault);
    if (point.kind() == Kind.COMMIT && fault.isSaidByTheServer()) {
      physical.rollback();
    }
    return said;
  }

  /** A statement that is a transaction fails after its work is done, and so has done nothing. */
  private SQLException takenBack(Work work, Fault fault) throws Throwable {
    physical.setAutoCommit(false);
    try {
      Object unused = work.run();
      return strike(fault);
    } finally {
      physical.rollback();
      physical.setAutoCommit(true);
    }
  }

  private SQLException strike(Fault fault) throws SQLException {
    if (fault == Fault.ADMIN_SHUTDOWN) {
      lost = true;
      pool.terminate(physical);
      return saidBy(physical, "SELECT");
    }
    if (fault == Fault.CONNECTION_LOST) {
      lost = true;
      pool.lose(physical);
      return new PSQLException("connection lost, says the rig", PSQLState.CONNECTION_FAILURE);
    }
    if (fault == Fault.READ_ONLY) {
      pool.leadsNowhere(physical);
    }
    return saidBy(
        physical,
        "DO $$ BEGIN RAISE EXCEPTION 'says the rig' USING ERRCODE = '%s'; END $$"
            .formatted(fault.state()));
  }

  private static SQLException saidBy(Connection physical, String sql) {
    try (Statement statement = physical.createStatement()) {
      statement.execute(sql);
    } catch (SQLException e) {
      return e;
    }
    throw new IllegalStateException("the server raised nothing");
  }
}
