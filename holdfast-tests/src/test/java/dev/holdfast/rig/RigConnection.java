package dev.holdfast.rig;

import java.io.PrintWriter;
import java.io.Writer;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.function.UnaryOperator;
import java.util.logging.Logger;
import javax.sql.DataSource;

/**
 * One connection that is never given back, for the one thread that made it: statements stay
 * prepared, and settings stay set. Others get none, and so a rig's engine notifies nobody. Lets a
 * test change the text of statements on their way to the server.
 */
public final class RigConnection implements DataSource, AutoCloseable {

  private final Thread owner = Thread.currentThread();
  private final Connection physical;
  private final Connection lent;

  public RigConnection(String jdbcUrl, UnaryOperator<String> rewrite) throws SQLException {
    physical = DriverManager.getConnection(jdbcUrl);
    lent = lent(physical, rewrite);
  }

  private static Connection lent(Connection physical, UnaryOperator<String> rewrite) {
    return (Connection)
        Proxy.newProxyInstance(
            RigConnection.class.getClassLoader(),
            new Class<?>[] {Connection.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("close")) {
                return null;
              }
              if (method.getName().equals("prepareStatement")) {
                arguments[0] = rewrite.apply((String) arguments[0]);
              }
              try {
                return method.invoke(physical, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
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
