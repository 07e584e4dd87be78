package dev.holdfast.executor;

import dev.holdfast.job.Failure;
import dev.holdfast.job.Outcome;
import dev.holdfast.worker.JobContext;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/**
 * Sees to it that nothing runs past its lease, whatever runs it: the watchdog, and the times that
 * it keeps. Thread-safe.
 */
final class LeaseWatch implements AutoCloseable {

  // From the moment that the worker stops a job whose lease it could not renew until the lease
  // ends, all of this must fit: the grace, a second in which the worker acts before the watchdog
  // does, and the time that it takes to kill.
  private static final Duration HEAD_START = Duration.ofSeconds(1);

  private static final int MARGINS_IN_A_LEASE = 5; // a worker stops what it could not renew then

  /** How long the watchdog needs to look, and KILL to come through. */
  enum Ending {
    PROCESS(Duration.ofSeconds(1)),
    /** By way of an engine, which has more to do. */
    CONTAINER(Duration.ofSeconds(2));

    private final Duration length;

    Ending(Duration length) {
      this.length = length;
    }
  }

  private final Shell shell;
  private final Duration grace;
  private final Watchdog watchdog;

  /**
   * On this machine.
   *
   * @param engine the socket of what runs containers, where that is to be watched, too
   */
  LeaseWatch(Shell shell, Duration grace, Optional<Path> engine) {
    this.shell = shell;
    this.grace = grace;
    this.watchdog = new Watchdog(shell, grace, engine);
  }

  Shell shell() {
    return shell;
  }

  Duration grace() {
    return grace;
  }

  Watchdog watchdog() {
    return watchdog;
  }

  /** A refusal, where there would be no time to stop what the job runs. */
  Optional<Outcome> refusal(JobContext job, Ending ending) {
    Duration needed = margin(grace, ending);
    if (job.stopMargin().compareTo(needed) >= 0) {
      return Optional.empty();
    }
    return Optional.of(
        Outcome.failed(
            Failure.permanent(
                "LEASE_TOO_SHORT",
                "A fifth of the job's lease must be "
                    + needed.toMillis() / 1000.0
                    + " s at least, to stop what it runs in time; take lease_seconds of "
                    + shortestLease(grace, ending).toMillis() / 1000.0)));
  }

  private static Duration margin(Duration grace, Ending ending) {
    return grace.plus(HEAD_START).plus(ending.length);
  }

  /** Under a shorter one nothing is run that ends so. */
  static Duration shortestLease(Duration grace, Ending ending) {
    return margin(grace, ending).multipliedBy(MARGINS_IN_A_LEASE);
  }

  /** When it has to get TERM at the latest. */
  Watchdog.Deadline deadline(JobContext job, Ending ending) {
    return () -> at(job, grace.plus(ending.length));
  }

  // The clock is read first: when we are frozen after that, the deadline is early, never late.
  private static long at(JobContext job, Duration before) throws IOException {
    long now = Uptime.now();
    Duration left = job.leaseLeft().minus(before);
    return Math.max(0, now + Uptime.hundredths(left));
  }

  @Override
  public void close() {
    watchdog.close();
  }
}
