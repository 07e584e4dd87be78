package dev.holdfast.executor;

import com.github.dockerjava.api.async.ResultCallback;
import com.github.dockerjava.api.command.InspectContainerResponse.ContainerState;
import com.github.dockerjava.api.model.WaitResponse;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A container that never runs unwatched: the watchdog knows it before it starts. Closing removes
 * it, and returns when it certainly does not run any more: whoever waits for that says next that
 * the work is over, and lets the next attempt begin. While the engine does not answer, the watchdog
 * keeps trying to kill it, too.
 */
final class WatchedContainer implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(WatchedContainer.class);

  private static final Duration CHECK = Duration.ofMillis(500);
  // For KILL to take effect, on top of the grace.
  private static final Duration KILL_PATIENCE = Duration.ofSeconds(2);

  /** How the container ended. */
  record Exit(int code, boolean outOfMemory) {}

  private final String id;
  private final ContainerEngine engine;
  private final Watchdog watchdog;
  private final FrameStream output;
  private boolean isOver = true; // as long as nobody has started it
  private boolean isClosed;

  private WatchedContainer(
      String id, ContainerEngine engine, Watchdog watchdog, FrameStream output) {
    this.id = id;
    this.engine = engine;
    this.watchdog = watchdog;
    this.output = output;
  }

  /** Takes over a container that was created, and starts it. */
  static WatchedContainer start(
      String id, ContainerEngine engine, Watchdog watchdog, Watchdog.Deadline deadline)
      throws IOException {
    WatchedContainer started = new WatchedContainer(id, engine, watchdog, new FrameStream());
    try {
      watchdog.watch(Watchdog.container(id), deadline);
      started.isOver = false; // a start that fails may still take place
      engine.start(id);
      engine.followLog(id, started.output);
      return started;
    } catch (IOException | RuntimeException e) {
      started.close();
      throw e;
    }
  }

  String id() {
    return id;
  }

  /** Whether the container has ended, so that its output ends as well. */
  boolean isOver() {
    return isOver;
  }

  InputStream output() {
    return output.input();
  }

  /**
   * Waits for the container to end.
   *
   * @throws InterruptedException after it was stopped
   */
  Exit await(Duration grace) throws InterruptedException, IOException {
    try {
      while (true) {
        awaitSign();
        Optional<Exit> exit = look();
        if (exit.isPresent()) {
          isOver = true;
          return exit.get();
        }
        watchdog.checkWatching();
      }
    } catch (InterruptedException e) {
      stop(grace.plus(KILL_PATIENCE));
      throw e;
    }
  }

  // Waits until the engine reports the end, or fails to.
  private void awaitSign() throws InterruptedException, IOException {
    CountDownLatch sign = new CountDownLatch(1);
    AtomicBoolean failed = new AtomicBoolean();
    ResultCallback.Adapter<WaitResponse> wait =
        new ResultCallback.Adapter<>() {
          @Override
          public void onComplete() {
            super.onComplete();
            sign.countDown();
          }

          @Override
          public void onError(Throwable thrown) {
            log.debug("The engine cannot say when container {} ends", id, thrown);
            failed.set(true);
            sign.countDown();
          }
        };
    try (wait) {
      engine.awaitEnd(id, wait);
      while (!sign.await(CHECK.toMillis(), TimeUnit.MILLISECONDS)) {
        watchdog.checkWatching();
      }
      if (failed.get()) {
        Thread.sleep(CHECK); // the engine may be restarting
      }
    } catch (RuntimeException e) {
      log.debug("The engine does not answer", e);
      Thread.sleep(CHECK);
    }
  }

  /** How the container ended, if it has; one that was removed counts as killed. */
  private Optional<Exit> look() {
    try {
      return engine
          .find(id)
          .map(container -> exit(container.getState()))
          .orElse(Optional.of(new Exit(137, false)));
    } catch (RuntimeException e) {
      log.debug("The engine does not say how container {} is", id, e);
      return Optional.empty();
    }
  }

  private static Optional<Exit> exit(ContainerState state) {
    if (Boolean.TRUE.equals(state.getRunning()) || "created".equals(state.getStatus())) {
      return Optional.empty();
    }
    Long code = state.getExitCodeLong();
    return Optional.of(
        new Exit(code == null ? -1 : code.intValue(), Boolean.TRUE.equals(state.getOOMKilled())));
  }

  // Ignores interrupts: a second one must not leave the container running.
  private void stop(Duration patience) throws IOException {
    watchdog.stop(Watchdog.container(id));
    long untilNanos = System.nanoTime() + patience.toNanos();
    while (!isOver && System.nanoTime() - untilNanos < 0) {
      isOver = look().isPresent();
      try {
        Thread.sleep(50);
      } catch (InterruptedException e) {
        log.debug("Interrupted again while a container is being stopped");
      }
    }
  }

  /**
   * Removes the container, because its job is over. Ignores interrupts until it is gone; only an
   * executor that is closed leaves it to the watchdog.
   */
  @Override
  public void close() {
    if (isClosed) {
      return;
    }
    isClosed = true;
    boolean interrupted = Thread.interrupted(); // otherwise it would close the connection
    try {
      boolean isGone = remove() || isOver; // what has ended is harmless, the next start removes it
      if (!isGone) {
        log.warn("Container {} cannot be removed now; until it is, its job is not over", id);
      }
      while (!isGone && !engine.isClosed()) {
        haveItKilled();
        interrupted |= pause();
        isOver = look().isPresent();
        isGone = remove() || isOver;
      }
      if (isGone) {
        endWatch();
      }
    } finally {
      endOutput();
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private boolean remove() {
    try {
      engine.remove(id);
      return true;
    } catch (RuntimeException e) {
      if (isOver) {
        log.warn("Container {} has ended, and cannot be removed now", id, e);
      } else {
        log.debug("The engine does not remove container {}", id, e);
      }
      return false;
    }
  }

  private void haveItKilled() {
    try {
      watchdog.stop(Watchdog.container(id));
    } catch (IOException e) {
      log.debug("Nothing watches container {}", id, e);
    }
  }

  private void endOutput() {
    try {
      output.close();
    } catch (IOException e) {
      log.debug("The engine goes on with the output of container {}", id, e);
    }
  }

  private void endWatch() {
    try {
      watchdog.end(Watchdog.container(id));
    } catch (IOException e) {
      log.warn("The watchdog does not answer; container {} is gone all the same", id, e);
    }
  }

  /** Returns whether it was interrupted. */
  private static boolean pause() {
    try {
      Thread.sleep(CHECK);
      return false;
    } catch (InterruptedException e) {
      return true;
    }
  }
}
