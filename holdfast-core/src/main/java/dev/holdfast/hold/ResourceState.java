package dev.holdfast.hold;

import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * A resource as it is now.
 *
 * @param waiters the first in line, as many as were asked for
 */
public record ResourceState(
    String name, int capacity, List<Holder> holders, List<Blocker> blocks, List<Waiter> waiters) {

  /**
   * Who has it.
   *
   * @param passesAt its worker fell silent: when it will be thought to have stopped
   */
  public record Holder(UUID jobId, long fence, Instant since, Optional<Instant> passesAt) {}

  /** Who stands on it, and why. */
  public record Blocker(UUID jobId, String reason, String actor, Instant since) {}

  /** Who waits for it. */
  public record Waiter(UUID jobId, Instant since) {}
}
