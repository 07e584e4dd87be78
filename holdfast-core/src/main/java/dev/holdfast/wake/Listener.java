package dev.holdfast.wake;

import dev.holdfast.loop.Loop;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Rings the bell of this JVM when another process announces work. Keeps one connection. */
final class Listener implements Loop.Step, AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(Listener.class);

  private static final Duration RECONNECT = Duration.ofSeconds(2);
  // Short enough that close() does not take long.
  private static final int WAIT_MILLIS = 500;
  // A connection that a firewall has forgotten stays silent for ever; a query shows that.
  private static final Duration SILENCE = Duration.ofSeconds(10);
  private static final int ANSWER_SECONDS = 5;

  private final DataSource dataSource;
  private final Channel channel;
  private final Bell bell;
  private final AtomicBoolean closed = new AtomicBoolean();
  private @Nullable Connection connection;
  private long heardAtNanos;
  private boolean complained;

  Listener(DataSource dataSource, Channel channel, Bell bell) {
    this.dataSource = dataSource;
    this.channel = channel;
    this.bell = bell;
  }

  /** Waits for notifications for a moment. Called from one thread only. */
  @Override
  public Duration runOnce() {
    try {
      PGNotification[] heard = listening().getNotifications(WAIT_MILLIS);
      if (heard != null && heard.length > 0) {
        heardAtNanos = System.nanoTime();
        for (PGNotification notification : heard) {
          Optional<String> tenant = channel.tenantOf(notification.getParameter());
          tenant.ifPresent(bell::ring);
        }
      }
      askIfSilent();
      return Duration.ZERO;
    } catch (SQLException e) {
      if (complained) {
        log.debug("Still not listening", e);
      } else {
        log.warn("Not listening for now; workers poll meanwhile", e);
        complained = true;
      }
      disconnect();
      return RECONNECT;
    }
  }

  private void askIfSilent() throws SQLException {
    Connection current = connection;
    if (current != null && System.nanoTime() - heardAtNanos > SILENCE.toNanos()) {
      if (!current.isValid(ANSWER_SECONDS)) {
        throw new SQLException("the listening connection does not answer any more");
      }
      heardAtNanos = System.nanoTime();
    }
  }

  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      disconnect();
    }
  }

  private PGConnection listening() throws SQLException {
    Connection current = connection;
    if (current == null) {
      current = dataSource.getConnection();
      connection = current;
      current.setAutoCommit(true);
      try (Statement statement = current.createStatement()) {
        statement.execute("LISTEN " + channel.name());
      }
      heardAtNanos = System.nanoTime();
      complained = false;
    }
    return current.unwrap(PGConnection.class);
  }

  private void disconnect() {
    Connection current = connection;
    connection = null;
    if (current != null) {
      // A pooled connection would go on listening for its next user.
      try (current;
          Statement statement = current.createStatement()) {
        statement.execute("UNLISTEN *");
      } catch (SQLException e) {
        log.debug("Closing the listening connection failed", e);
      }
    }
  }
}
