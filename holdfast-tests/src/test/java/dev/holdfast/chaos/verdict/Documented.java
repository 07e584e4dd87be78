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

  /** How often somebody looks for leases that ran out. */
  static final Duration REAPER_PERIOD = Duration.ofSeconds(5);

  /** Within this of a mishap, an attempt can have been lost by it. Generous. */
  static final Duration REACH = LEASE.plus(KILL_GRACE).plus(REAPER_PERIOD).plusSeconds(7);

  private Documented() {}
}
