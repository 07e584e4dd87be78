package dev.holdfast.worker;

import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * For how long a worker has had permits that no job wanted: each of its claims since then got fewer
 * jobs than it asked for. Thread-safe; one thread claims.
 */
public final class Idle {

  private volatile OptionalLong sinceNanos = OptionalLong.empty();

  /** A claim got all that there was, and permits are left. */
  void begins() {
    if (sinceNanos.isEmpty()) {
      sinceNanos = OptionalLong.of(System.nanoTime());
    }
  }

  /** No permit is free, there may be more jobs, or claims are not made or fail. */
  void ends() {
    sinceNanos = OptionalLong.empty();
  }

  /** Empty when the worker is not idle. */
  public Optional<Duration> length() {
    OptionalLong since = sinceNanos;
    return since.isEmpty()
        ? Optional.empty()
        : Optional.of(Duration.ofNanos(System.nanoTime() - since.getAsLong()));
  }
}
