package dev.holdfast.chaos.verdict;

import java.time.Duration;

/**
 * What the documents promise, written down once more: a verdict that took its numbers from the
 * product would believe whatever the product says of itself.
 */
final class Documented {

  /** How long what a silent attempt held is left alone after its lease. */
  static final Duration KILL_GRACE = Duration.ofSeconds(5);

  /** The lease of the run's jobs, but for commands. */
  static final Duration LEASE = Duration.ofSeconds(3);

  /**
   * What is left of a lease, at least, as long as its handler was not told to stop: a fifth. Who is
   * frozen just then loses the job after that and not before.
   */
  static final Duration LEFT_OF_LEASE = LEASE.dividedBy(5);

  /** Whoever works at chores waits no longer for a server's word on one. */
  static final Duration LONGEST_ANSWER = Duration.ofSeconds(1);

  /** No chore of the workload works for longer. */
  static final Duration LONGEST_CHORE = Duration.ofSeconds(5);

  private Documented() {}
}
