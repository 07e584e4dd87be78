package dev.holdfast.server.auth;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** Who waits for whom until a secret is looked up. */
class DoorkeeperTest {

  private static final int MANY = 20;

  private final Doorkeeper door = new Doorkeeper();
  private final CountDownLatch database = new CountDownLatch(1); // answers from then on
  private final CountDownLatch asking = new CountDownLatch(3);

  @Test
  void whoever_must_not_wait_waits_for_no_stranger_who_may() throws Exception {
    byte[] good = Tokens.hash("good");
    try (ExecutorService crowd = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < MANY; i++) {
        byte[] stranger = Tokens.hash("stranger " + i);
        Future<?> unused = crowd.submit(() -> door.ask(stranger, slow(Optional.empty())));
      }
      asking.await();

      assertThat(door.askAtOnce(good, () -> Optional.of("worker"))).contains("worker");
      assertThat(door.ask(good, () -> Optional.of("worker"))).as("known now").contains("worker");
      database.countDown();
    }
  }

  private Supplier<Optional<String>> slow(Optional<String> found) {
    return () -> {
      asking.countDown();
      try {
        database.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      return found;
    };
  }
}
