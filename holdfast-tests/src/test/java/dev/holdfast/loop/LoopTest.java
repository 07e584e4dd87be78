package dev.holdfast.loop;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class LoopTest {

  private static final Duration LONG = Duration.ofHours(1);

  @Test
  void whoever_is_interrupted_while_it_closes_a_loop_still_waits_for_its_step() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch mayEnd = new CountDownLatch(1);
    AtomicBoolean ended = new AtomicBoolean();
    Loop loop =
        Loop.start(
            "test-loop",
            () -> {
              begun.countDown();
              awaitUninterruptibly(mayEnd);
              ended.set(true);
              return LONG;
            });
    begun.await();
    AtomicBoolean waited = new AtomicBoolean();
    AtomicBoolean interrupted = new AtomicBoolean();

    Thread closing =
        Thread.ofPlatform()
            .start(() -> {
              Thread.currentThread().interrupt();
              loop.close();
              waited.set(ended.get());
              interrupted.set(Thread.currentThread().isInterrupted());
            });
    while (closing.isAlive() && closing.getState() != Thread.State.WAITING) {
      Thread.onSpinWait(); // until it waits, or does not
    }
    mayEnd.countDown();
    closing.join();

    assertThat(waited).isTrue();
    assertThat(interrupted).isTrue();
  }

  @Test
  void a_stray_interrupt_ends_a_wait_and_not_the_loop() throws Exception {
    CountDownLatch rounds = new CountDownLatch(2);
    CountDownLatch first = new CountDownLatch(1);
    Thread[] own = new Thread[1];

    try (Loop loop =
        Loop.start(
            "test-loop",
            () -> {
              own[0] = Thread.currentThread();
              rounds.countDown();
              first.countDown();
              return LONG;
            })) {
      first.await();
      own[0].interrupt();

      rounds.await();
      assertThat(loop).isNotNull();
    }
  }

  @Test
  void a_loop_goes_on_after_an_exception_that_cannot_be_logged() throws Exception {
    class Unspeakable extends RuntimeException {
      private static final long serialVersionUID = 1L;

      @Override
      public String getMessage() {
        throw new StackOverflowError("of an exception's own words");
      }
    }
    CountDownLatch rounds = new CountDownLatch(2);

    try (Loop loop =
        Loop.start(
            "test-loop",
            () -> {
              rounds.countDown();
              throw new Unspeakable();
            })) {
      rounds.await();
      assertThat(loop).isNotNull();
    }
  }

  private static void awaitUninterruptibly(CountDownLatch latch) {
    while (latch.getCount() > 0) {
      Thread.onSpinWait();
    }
  }
}
