package dev.holdfast.chaos;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/** Those who make their rounds, each on a thread of its own, until they are told to stop. */
final class Rounds {

  /** One round; says how long it is until the next. */
  @FunctionalInterface
  interface Round {
    Duration make() throws Exception;
  }

  private final CountDownLatch over = new CountDownLatch(1);
  private final List<Thread> threads = new ArrayList<>();
  private final AtomicReference<Optional<Throwable>> failure =
      new AtomicReference<>(Optional.empty());

  void start(String name, Round round) {
    threads.add(
        Thread.ofPlatform()
            .daemon()
            .name("chaos-" + name)
            .start(() -> {
              try {
                while (!over.await(round.make().toMillis(), TimeUnit.MILLISECONDS)) {
                  // another one
                }
              } catch (Exception | AssertionError e) {
                failure.set(Optional.of(e));
              }
            }));
  }

  /** Fails when one of them has. */
  void check() {
    failure
        .get()
        .ifPresent(cause -> {
          throw new AssertionError("one of those who make their rounds failed", cause);
        });
  }

  /** Returns when the last round is over. */
  void stop() {
    over.countDown();
    for (Thread thread : threads) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }
}
