package dev.holdfast.chaos.fleet;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/** Threads that look for work again and again until they are told to stop. */
final class Hands implements AutoCloseable {

  private static final Duration IDLE = Duration.ofMillis(250);

  /** What one thread does. */
  interface Hand {

    /** Looks for a job and works at it; false when there was none. */
    boolean foundWork() throws IOException, InterruptedException;
  }

  private final List<Thread> threads = new ArrayList<>();
  private volatile boolean closing;

  /**
   * Starts them.
   *
   * @param hand makes one of a name that no other has
   */
  Hands(int count, String name, Function<String, Hand> hand) {
    for (int i = 0; i < count; i++) {
      Hand one = hand.apply(name + "-" + i);
      threads.add(Thread.ofPlatform().start(() -> run(one)));
    }
  }

  /** Lets each finish what it has. */
  @Override
  public void close() throws InterruptedException {
    closing = true;
    for (Thread thread : threads) {
      thread.join();
    }
  }

  private void run(Hand hand) {
    while (!closing) {
      try {
        if (!hand.foundWork()) {
          Thread.sleep(IDLE);
        }
      } catch (IOException | RuntimeException e) {
        pause(); // the server is away, or what it said got lost
      } catch (InterruptedException e) {
        return; // nobody does that
      }
    }
  }

  /** As long as between two looks. */
  static void pause() {
    try {
      Thread.sleep(IDLE);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
