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
 * Access to files that others may replace at any moment, on its own threads. If a pipe takes the
 * place of a file between the check and the opening, opening it blocks until the other end is
 * opened; Java can neither open without waiting nor end the wait. So a thread of this class waits,
 * its caller continues after a while, and the number of threads is limited: a tenant that plants
 * pipes loses access to its own files, and harms nothing else.
 *
 * <p>A caller gives up on a step only while the step opens files. A write that was given up and
 * happened later would replace a newer state by an older one. Thread-safe.
 */
final class BoundedAccess {

  private static final int MOST_AT_ONCE = 32;

  private enum Stage {
    OPENING,
    AT_WORK,
    GIVEN_UP
  }

  /** Called by a step once it has opened what it needs; from then on, the caller waits for it. */
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
   * @param limit the time until the step must have opened all it needs
   * @param unwanted gets the result if the caller has given up
   */
  <T> T within(Duration limit, String what, Step<T> step, Consumer<T> unwanted) throws IOException {
    AtomicReference<Stage> stage = new AtomicReference<>(Stage.OPENING);
    CompletableFuture<T> result = new CompletableFuture<>();
    try {
      if (!free.tryAcquire(limit.toNanos(), TimeUnit.NANOSECONDS)) {
        throw new FileSystemException(what, null, "too many wait for files here already");
      }
      start(() -> run(step, stage, result, unwanted));
      return await(result, stage, limit, what);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException(what);
    } catch (ExecutionException e) {
      throw rethrown(e);
    } finally {
      result.cancel(false); // no effect if there is a result; otherwise a later one is unwanted
    }
  }

  private void start(Runnable work) {
    Thread thread =
        Thread.ofPlatform()
            .daemon()
            .name("holdfast-files")
            .unstarted(() -> {
              try {
                work.run();
              } finally {
                free.release();
              }
            });
    try {
      thread.start();
    } catch (OutOfMemoryError e) { // there is no thread to release it
      free.release();
      throw e;
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
    } catch (Throwable e) { // passed to the caller, whatever it is
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
