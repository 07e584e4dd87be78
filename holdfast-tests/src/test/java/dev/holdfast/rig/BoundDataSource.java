package dev.holdfast.rig;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import javax.sql.DataSource;

/**
 * Connections as frameworks hand them out that bind a transaction to a thread: within one, whoever
 * asks gets its connection, and closing that does nothing. Thread-safe.
 */
public final class BoundDataSource {

  /** What a thread does in its transaction. */
  public interface Work {
    void in(Connection transaction) throws SQLException;
  }

  private final DataSource pool;
  private final DataSource bound;
  private final Map<Thread, Connection> current = new ConcurrentHashMap<>();

  public BoundDataSource(DataSource pool) {
    this.pool = pool;
    this.bound =
        proxy(
            DataSource.class,
            (proxy, method, arguments) -> {
              Connection transaction = current.get(Thread.currentThread());
              return method.getName().equals("getConnection") && transaction != null
                  ? unclosable(transaction)
                  : method.invoke(pool, arguments);
            });
  }

  public DataSource dataSource() {
    return bound;
  }

  /** Runs it in a transaction of this thread, which is rolled back. */
  public void rollBackAfter(Work work) throws SQLException {
    try (Connection transaction = pool.getConnection()) {
      transaction.setAutoCommit(false);
      current.put(Thread.currentThread(), transaction);
      try {
        work.in(transaction);
      } finally {
        current.remove(Thread.currentThread());
        transaction.rollback();
        transaction.setAutoCommit(true);
      }
    }
  }

  private static Connection unclosable(Connection transaction) {
    return proxy(
        Connection.class,
        (proxy, method, arguments) ->
            switch (method.getName()) {
              case "close" -> null;
              case "equals" -> proxy.hashCode() == arguments[0].hashCode();
              case "hashCode" -> System.identityHashCode(proxy);
              default -> method.invoke(transaction, arguments);
            });
  }

  private static <T> T proxy(Class<T> type, InvocationHandler calls) {
    InvocationHandler honest =
        (proxy, method, arguments) -> {
          try {
            return calls.invoke(proxy, method, arguments);
          } catch (InvocationTargetException e) {
            throw e.getCause();
          }
        };
    return type.cast(
        Proxy.newProxyInstance(
            BoundDataSource.class.getClassLoader(), new Class<?>[] {type}, honest));
  }
}
