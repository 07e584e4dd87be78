package dev.holdfast.hold;

import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * A resource as it is now.
 *
 * @param waiters the first jobs in line, at most a thousand
 */
public record ResourceState(
    String name, int capacity, List<Holder> holders, List<Blocker> blocks, List<Waiter> waiters) {

  /**
   * An attempt that holds the resource.
   *
   * @param passesAt when the hold passes on, if the work was not seen to stop
   */
  public record Holder(UUID jobId, long fence, Instant since, Optional<Instant> passesAt) {}

  /** A job that blocks the resource, and why. */
  public record Blocker(UUID jobId, String reason, String actor, Instant since) {}

  /** A job that is parked on the resource. */
  public record Waiter(UUID jobId, Instant since) {}
}
