package dev.holdfast.executor;

import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends process groups when their time is over, from outside of this process: also when this one is
 * frozen or killed.
 *
 * <p>There is one {@link WatchdogProcess}, started with the first group. One that died or does not
 * answer is replaced, and its successor told of all groups: they need not die with it, because as
 * long as somebody can notice its death, somebody can renew. Thread-safe: {@code lock} guards all.
 */
final class Watchdog implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(Watchdog.class);

  private static final long AT_ONCE = 0;

  private final Shell shell;
  private final Duration grace;
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<Long, Long> deadlines = new HashMap<>();
  private @Nullable WatchdogProcess process;
  private boolean isClosed;

  Watchdog(Shell shell, Duration grace) {
    this.shell = shell;
    this.grace = grace;
  }

  /**
   * Returns when the group is watched.
   *
   * @param deadline by {@link Uptime}, when it gets TERM
   */
  void watch(long group, long deadline) throws IOException {
    lock.lock();
    try {
      boolean unused = ask("watch", group, " " + deadline);
      deadlines.put(group, deadline);
    } finally {
      lock.unlock();
    }
  }

  /** Postpones the end of a group, unless it has begun. */
  void renew(long group, long deadline) throws IOException {
    lock.lock();
    try {
      deadlines.put(group, deadline);
      boolean unused = ask("renew", group, " " + deadline);
    } finally {
      lock.unlock();
    }
  }

  /** TERM now, KILL after the grace. Does not wait. */
  void stop(long group) throws IOException {
    lock.lock();
    try {
      deadlines.put(group, AT_ONCE);
      boolean unused = ask("stop", group, "");
    } finally {
      lock.unlock();
    }
  }

  /** Nothing of the group is left. */
  boolean isGone(long group) throws IOException {
    lock.lock();
    try {
      return ask("gone", group, "");
    } finally {
      lock.unlock();
    }
  }

  /** Kills what is left of the group, and watches it no longer. */
  void end(long group) throws IOException {
    lock.lock();
    try {
      deadlines.remove(group);
      boolean unused = ask("end", group, "");
    } finally {
      lock.unlock();
    }
  }

  private boolean ask(String verb, long group, String deadline) throws IOException {
    String line = verb + " " + group + deadline;
    try {
      return running().ask(line);
    } catch (IOException e) {
      log.warn("The watchdog of process groups failed, another one is started: {}", e.toString());
      giveUp();
      return running().ask(line);
    }
  }

  private WatchdogProcess running() throws IOException {
    if (isClosed) {
      throw new IOException("The executor is closed");
    }
    WatchdogProcess current = process;
    if (current == null) {
      current = WatchdogProcess.start(shell, grace);
      process = current;
      for (Map.Entry<Long, Long> watched : deadlines.entrySet()) {
        boolean unused = current.ask("watch " + watched.getKey() + " " + watched.getValue());
      }
    }
    return current;
  }

  private void giveUp() {
    if (process != null) {
      process.kill();
      process = null;
    }
  }

  /** Kills what is still watched. */
  @Override
  public void close() {
    lock.lock();
    try {
      isClosed = true;
      if (process != null) {
        process.dismiss();
        process = null;
      }
    } finally {
      lock.unlock();
    }
  }
}
