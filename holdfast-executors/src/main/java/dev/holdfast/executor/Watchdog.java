package dev.holdfast.executor;

import dev.holdfast.loop.Loop;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends process groups and containers when their time is over, from outside of this process, so also
 * when this process is frozen or killed.
 *
 * <p>There is one {@link WatchdogProcess}, started with the first group, and a loop that keeps
 * telling it how long each group may live. The loop has its own thread, like heartbeats: handlers
 * that use all processors must not look like a frozen worker. A process that died or does not
 * answer is replaced, and its successor is told about all groups. The groups need not die with it,
 * because a worker that can notice its death can also renew. Thread-safe: {@code lock} guards all
 * fields.
 */
final class Watchdog implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(Watchdog.class);

  private static final Duration RENEWAL = Duration.ofMillis(500);
  private static final Duration IDLE = Duration.ofHours(1); // a new group wakes it

  /**
   * When a group has to get TERM at the latest, by {@link Uptime}. It changes with each renewal.
   */
  @FunctionalInterface
  interface Deadline {
    Deadline AT_ONCE = () -> 0;

    long now() throws IOException;
  }

  private final Shell shell;
  private final Duration grace;
  private final Optional<Path> engine;
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<String, Deadline> watched = new HashMap<>(); // by their names in the script
  private @Nullable WatchdogProcess process;
  private @Nullable Loop renewal;
  private @Nullable IOException trouble;
  private boolean isClosed;

  /**
   * Starts no process before there is something to watch.
   *
   * @param engine the socket of the container engine
   */
  Watchdog(Shell shell, Duration grace, Optional<Path> engine) {
    this.shell = shell;
    this.grace = grace;
    this.engine = engine;
  }

  /** The name of a container in the script. */
  static String container(String id) {
    return "container:" + id;
  }

  private static String group(long number) {
    return String.valueOf(number);
  }

  /** Registers a group; it is watched when this returns. */
  void watch(long group, Deadline deadline) throws IOException {
    watch(group(group), deadline);
  }

  void watch(String what, Deadline deadline) throws IOException {
    lock.lock();
    try {
      boolean unused = ask("watch " + what + " " + deadline.now());
      watched.put(what, deadline);
      if (renewal == null) {
        renewal = Loop.start("holdfast-watchdog-renewal", this::renewAll);
      }
      renewal.wake();
    } finally {
      lock.unlock();
    }
  }

  private Duration renewAll() {
    lock.lock();
    try {
      if (isClosed || watched.isEmpty()) {
        return IDLE;
      }
      for (Map.Entry<String, Deadline> each : watched.entrySet()) {
        boolean unused = ask("renew " + each.getKey() + " " + each.getValue().now());
      }
      trouble = null;
    } catch (IOException e) {
      log.warn("Process groups cannot be watched now", e);
      trouble = e;
    } finally {
      lock.unlock();
    }
    return RENEWAL;
  }

  /**
   * Throws if nothing is being watched. The caller must then end what it runs, because nothing else
   * would.
   */
  void checkWatching() throws IOException {
    lock.lock();
    try {
      if (trouble != null) {
        throw new IOException("The command was ended, because nothing watched it", trouble);
      }
    } finally {
      lock.unlock();
    }
  }

  /** Sends TERM now, and KILL after the grace. Does not wait. */
  void stop(long group) throws IOException {
    stop(group(group));
  }

  void stop(String what) throws IOException {
    lock.lock();
    try {
      watched.put(what, Deadline.AT_ONCE);
      boolean unused = ask("stop " + what);
    } finally {
      lock.unlock();
    }
  }

  /** Whether no process of the group is left. */
  boolean isGone(long group) throws IOException {
    lock.lock();
    try {
      return ask("gone " + group);
    } finally {
      lock.unlock();
    }
  }

  /** Kills what is left of the group, and stops watching it. */
  void end(long group) throws IOException {
    end(group(group));
  }

  void end(String what) throws IOException {
    lock.lock();
    try {
      watched.remove(what);
      boolean unused = ask("end " + what);
    } finally {
      lock.unlock();
    }
  }

  private boolean ask(String line) throws IOException {
    try {
      return running().ask(line);
    } catch (IOException e) {
      if (isClosed) {
        throw e;
      }
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
      current = WatchdogProcess.start(shell, grace, engine);
      process = current;
      for (Map.Entry<String, Deadline> each : watched.entrySet()) {
        boolean unused = current.ask("watch " + each.getKey() + " " + each.getValue().now());
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

  /** Kills everything that is still watched. */
  @Override
  public void close() {
    Loop loop;
    lock.lock();
    try {
      isClosed = true;
      if (process != null) {
        process.dismiss();
        process = null;
      }
      loop = renewal;
    } finally {
      lock.unlock();
    }
    if (loop != null) {
      loop.close(); // outside of the lock, which its last round may need
    }
  }
}
