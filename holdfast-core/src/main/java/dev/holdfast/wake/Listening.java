package dev.holdfast.wake;

import dev.holdfast.loop.Loop;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Shares one listening connection among all workers of a process, from the start of the first to
 * the end of the last. Thread-safe: every method takes {@code lock}.
 */
public final class Listening {

  private static final Logger log = LoggerFactory.getLogger(Listening.class);

  private final Supplier<Optional<DataSource>> source;
  private final Channel channel;
  private final Bell bell;
  private final ReentrantLock lock = new ReentrantLock();
  private int users;
  private AutoCloseable openListener = () -> {};

  /**
   * Opens no connection yet.
   *
   * @param source connections that receive notifications; none where notifications do not get
   *     through
   */
  public Listening(Supplier<Optional<DataSource>> source, Channel channel, Bell bell) {
    this.source = source;
    this.channel = channel;
    this.bell = bell;
  }

  /** Rings the bell when another process announces work, until the result is closed. */
  public AutoCloseable start() {
    lock.lock();
    try {
      if (users == 0) {
        openListener = open();
      }
      users++;
      return new Use();
    } finally {
      lock.unlock();
    }
  }

  private AutoCloseable open() {
    Optional<DataSource> connections = source.get();
    if (connections.isEmpty()) {
      log.warn(
          "Notifications do not get through a pooler in transaction mode; workers poll instead."
              + " Give a direct address to listen on (--listen-url, listenOn) to be woken at once");
      return () -> {};
    }
    Listener listener = new Listener(connections.get(), channel, bell);
    Loop loop = Loop.start("holdfast-listen", listener);
    return () -> {
      loop.close();
      listener.close();
    };
  }

  private final class Use implements AutoCloseable {

    private boolean over;

    @Override
    public void close() throws Exception {
      lock.lock();
      try {
        if (!over) {
          over = true;
          users--;
          if (users == 0) {
            openListener.close();
          }
        }
      } finally {
        lock.unlock();
      }
    }
  }
}
