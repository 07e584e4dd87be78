package dev.holdfast.executor.files;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.FileSystemException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

/**
 * Access to files that others may exchange at any moment, on threads of its own. A pipe that takes
 * a file's place between the look at it and its opening holds up whoever opens it, for as long as
 * nobody opens the other end; Java has no way to open without waiting, and none to end the wait. So
 * it is a thread of this class that waits, its caller goes on after a while, and there are only so
 * many: whoever plants pipes deprives its own tenant of its files and nobody of anything else.
 *
 * <p>A caller goes on without its step only while that opens. A write that was given up and came
 * about later would put an old state over a newer one. Thread-safe.
 */
final class BoundedAccess {

  private static final int MOST_AT_ONCE = 32;

  private enum Stage {
    OPENING,
    AT_WORK,
    GIVEN_UP
  }

  /** Told by a step when it has opened what it needs: from then on it is waited for. */
  @FunctionalInterface
  interface Opened {
    void opened() throws IOException;
  }

  interface Step<T> {
    T run(Opened told) throws IOException;
  }

  private final Semaphore free = new Semaphore(MOST_AT_ONCE);

  /**
   * Runs a step.
   *
   * @param limit for what it does before it says that it has opened all it needs
   * @param unwanted gets what comes of it when its caller is gone
   */
  <T> T within(Duration limit, String what, Step<T> step, Consumer<T> unwanted) throws IOException {
    AtomicReference<Stage> stage = new AtomicReference<>(Stage.OPENING);
    CompletableFuture<T> result = new CompletableFuture<>();
    try {
      if (!free.tryAcquire(limit.toNanos(), TimeUnit.NANOSECONDS)) {
        throw new FileSystemException(what, null, "too many wait for files here already");
      }
      Thread.ofPlatform()
          .daemon()
          .name("holdfast-files")
          .start(() -> {
            try {
              run(step, stage, result, unwanted);
            } finally {
              free.release();
            }
          });
      return await(result, stage, limit, what);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException(what);
    } catch (ExecutionException e) {
      throw rethrown(e);
    } finally {
      result.cancel(false); // of no effect where there is one; else what comes is unwanted
    }
  }

  private static <T> T await(
      CompletableFuture<T> result, AtomicReference<Stage> stage, Duration limit, String what)
      throws IOException, InterruptedException, ExecutionException {
    try {
      return result.get(limit.toNanos(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      if (stage.compareAndSet(Stage.OPENING, Stage.GIVEN_UP)) {
        throw new FileSystemException(what, null, "it did not open within " + limit);
      }
      return result.get();
    }
  }

  private static <T> void run(
      Step<T> step,
      AtomicReference<Stage> stage,
      CompletableFuture<T> result,
      Consumer<T> unwanted) {
    try {
      T value =
          step.run(() -> {
            if (!stage.compareAndSet(Stage.OPENING, Stage.AT_WORK)) {
              throw new IOException("nobody waits for it any more");
            }
          });
      if (!result.complete(value)) {
        unwanted.accept(value);
      }
    } catch (Throwable e) { // for the caller to deal with, whatever it is
      result.completeExceptionally(e);
    }
  }

  private static IOException rethrown(ExecutionException e) {
    return switch (e.getCause()) {
      case IOException cause -> cause;
      case RuntimeException cause -> throw cause;
      case Error cause -> throw cause;
      case null, default -> new IOException(e);
    };
  }
}
