package dev.holdfast.wake;

import dev.holdfast.tenant.Db;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells workers everywhere that a tenant may have work: those of this JVM at once, the others by
 * NOTIFY. A notification in every enqueueing transaction would make all commits queue for one lock,
 * so it is sent from a connection of its own, the first at once and then at most one per {@link
 * #PAUSE}. Thread-safe.
 */
public final class Announcer {

  private static final Logger log = LoggerFactory.getLogger(Announcer.class);

  private static final Duration PAUSE = Duration.ofMillis(15);

  private static final String NOTIFY = "SELECT pg_notify(?, ?)";

  // A hint need not survive a crash, so its commit does not wait for the disk.
  private static final String NOTIFY_ALONE =
      "SELECT set_config('synchronous_commit', 'off', true), pg_notify(?, ?)";

  private final Db db;
  private final Channel channel;
  private final Bell bell;
  private final boolean notifyInTransactions;
  private final Set<String> waiting = ConcurrentHashMap.newKeySet();
  private final AtomicBoolean sending = new AtomicBoolean();

  /**
   * An announcer for one process.
   *
   * @param notifyInTransactions whether {@link #announceOnCommit} does anything
   */
  public Announcer(Db db, Channel channel, Bell bell, boolean notifyInTransactions) {
    this.notifyInTransactions = notifyInTransactions;
    this.db = db;
    this.channel = channel;
    this.bell = bell;
  }

  /** After the commit that made work: rings here, and soon elsewhere. Never fails. */
  public void announce(String tenant) {
    bell.ring(tenant);
    waiting.add(tenant);
    if (sending.compareAndSet(false, true)) {
      Thread.startVirtualThread(this::sendUntilQuiet);
    }
  }

  /** Inside the caller's transaction: heard when, and only if, that commits. */
  public void announceOnCommit(Connection connection, String tenant) throws SQLException {
    if (notifyInTransactions) {
      notify(connection, NOTIFY, channel.messageToAll(tenant));
    }
  }

  private void notify(Connection connection, String sql, String message) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setString(1, channel.name());
      statement.setString(2, message);
      statement.execute();
    }
  }

  private void sendUntilQuiet() {
    do {
      do {
        send();
        LockSupport.parkNanos(PAUSE.toNanos());
      } while (!waiting.isEmpty());
      sending.set(false);
      // A tenant added between the last check and the reset of the flag would wait for the next
      // call.
    } while (!waiting.isEmpty() && sending.compareAndSet(false, true));
  }

  private void send() {
    try {
      db.withImpatientConnection(connection -> {
        for (String tenant : Set.copyOf(waiting)) {
          waiting.remove(tenant);
          notify(connection, NOTIFY_ALONE, channel.message(tenant));
        }
        return true;
      });
    } catch (Throwable e) { // an Error, too: nothing would ever be sent again
      // Workers poll; a lost notification costs them one interval.
      waiting.clear();
      log.debug("Could not notify other processes", e);
    }
  }
}
