package dev.holdfast.rig;

import java.io.PrintWriter;
import java.io.Writer;
import java.lang.reflect.InvocationTargetException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.logging.Logger;
import javax.sql.DataSource;

/**
 * One connection that is never given back, for one thread alone: statements stay prepared, and
 * settings stay set. Others get none, and so a rig's engine notifies nobody. Lets a test change the
 * text of statements on their way to the server, and hold them up there.
 */
public final class RigConnection implements DataSource, AutoCloseable {

  /** Told of every statement, commit and rollback before it goes to the server. */
  public interface Gate {
    void pass(String what);
  }

  private final Connection physical;
  private final Connection lent;
  private volatile Thread owner = Thread.currentThread();

  public RigConnection(String jdbcUrl, UnaryOperator<String> rewrite) throws SQLException {
    this(jdbcUrl, Tampering.unwatched(rewrite));
  }

  public RigConnection(String jdbcUrl, Tampering tampering) throws SQLException {
    this(jdbcUrl, tampering, UnaryOperator.identity(), Optional.empty());
  }

  /**
   * Of an engine that is tampered with.
   *
   * @param own what the rig does to statements for its own sake
   */
  public RigConnection(
      String jdbcUrl, Tampering tampering, UnaryOperator<String> own, Optional<Gate> gate)
      throws SQLException {
    physical = DriverManager.getConnection(jdbcUrl);
    lent = lent(tampering, own, gate);
  }

  private Connection lent(Tampering tampering, UnaryOperator<String> own, Optional<Gate> gate) {
    return Proxies.make(
        Connection.class,
        (method, arguments) -> {
          switch (method.getName()) {
            case "close" -> {
              return null;
            }
            case "prepareStatement" ->
                arguments[0] = own.apply(tampering.apply((String) arguments[0]));
            case "commit", "rollback" -> gate.ifPresent(each -> each.pass(method.getName()));
            default -> {}
          }
          Object result = method.invoke(physical, arguments);
          return result instanceof PreparedStatement statement
                  && (gate.isPresent() || tampering.isWatched())
              ? watched(statement, (String) arguments[0], gate, tampering)
              : result;
        });
  }

  private static PreparedStatement watched(
      PreparedStatement statement, String sql, Optional<Gate> gate, Tampering tampering) {
    return Proxies.make(
        PreparedStatement.class,
        (method, arguments) -> {
          if (method.getName().startsWith("execute")) {
            gate.ifPresent(each -> each.pass(sql));
          }
          try {
            return method.invoke(statement, arguments);
          } catch (InvocationTargetException e) {
            if (e.getCause() instanceof SQLException refusal) {
              tampering.refused(sql, refusal);
            }
            throw e;
          }
        });
  }

  /** From now on the connection is the calling thread's. */
  public void adopt() {
    owner = Thread.currentThread();
  }

  /** The connection without the gate, for what is no part of the test. */
  public Connection behindTheGate() {
    return physical;
  }

  @Override
  public Connection getConnection() throws SQLException {
    if (!Thread.currentThread().equals(owner)) {
      throw new SQLException("this connection belongs to " + owner);
    }
    return lent;
  }

  @Override
  public Connection getConnection(String user, String password) throws SQLException {
    return getConnection();
  }

  @Override
  public void close() throws SQLException {
    physical.close();
  }

  @Override
  public PrintWriter getLogWriter() {
    return new PrintWriter(Writer.nullWriter());
  }

  @Override
  public void setLogWriter(PrintWriter out) {}

  @Override
  public void setLoginTimeout(int seconds) {}

  @Override
  public int getLoginTimeout() {
    return 0;
  }

  @Override
  public Logger getParentLogger() {
    return Logger.getGlobal();
  }

  @Override
  public <T> T unwrap(Class<T> type) throws SQLException {
    throw new SQLException("wraps nothing");
  }

  @Override
  public boolean isWrapperFor(Class<?> type) {
    return false;
  }
}
