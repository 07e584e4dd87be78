package dev.holdfast.wake;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
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

  private static final Duration PAUSE = Duration.ofMillis(20);

  private static final String NOTIFY =
      """
      SELECT pg_notify(:channel, :message)
      """;

  private final Jdbi jdbi;
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
  public Announcer(Jdbi jdbi, Channel channel, Bell bell, boolean notifyInTransactions) {
    this.notifyInTransactions = notifyInTransactions;
    this.jdbi = jdbi;
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
  public void announceOnCommit(Handle handle, String tenant) {
    if (notifyInTransactions) {
      notify(handle, channel.messageToAll(tenant));
    }
  }

  private void notify(Handle handle, String message) {
    handle
        .createQuery(NOTIFY)
        .bind("channel", channel.name())
        .bind("message", message)
        .mapTo(String.class)
        .one();
  }

  private void sendUntilQuiet() {
    do {
      do {
        send();
        LockSupport.parkNanos(PAUSE.toNanos());
      } while (!waiting.isEmpty());
      sending.set(false);
      // One that came between the last look and the flag would otherwise wait for the next.
    } while (!waiting.isEmpty() && sending.compareAndSet(false, true));
  }

  private void send() {
    try (Handle handle = jdbi.open()) {
      for (String tenant : Set.copyOf(waiting)) {
        waiting.remove(tenant);
        notify(handle, channel.message(tenant));
      }
    } catch (RuntimeException e) {
      // Workers poll; a lost notification costs them one interval.
      log.debug("Could not notify other processes", e);
      waiting.clear();
    }
  }
}
