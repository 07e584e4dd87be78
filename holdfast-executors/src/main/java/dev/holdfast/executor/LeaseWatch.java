package dev.holdfast.executor;

import dev.holdfast.job.Failure;
import dev.holdfast.job.Outcome;
import dev.holdfast.worker.JobContext;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/**
 * Ensures that nothing runs past its lease: has the watchdog, and computes its deadlines.
 * Thread-safe.
 */
final class LeaseWatch implements AutoCloseable {

  // Between the moment when the worker stops a job whose lease it could not renew and the end of
  // the lease, three things must fit: the grace, a second in which the worker acts before the
  // watchdog does, and the time that KILL takes.
  private static final Duration HEAD_START = Duration.ofSeconds(1);

  private static final int MARGINS_IN_A_LEASE = 5; // the worker stops a job at a fifth

  /** How long the watchdog takes to notice, and KILL to take effect. */
  enum Ending {
    PROCESS(Duration.ofSeconds(1)),
    /** Longer, because it goes through the engine. */
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
   * Watches processes of this machine.
   *
   * @param engine the socket of the container engine, if containers are to be watched, too
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

  /** Refuses a job whose lease leaves no time to stop it. */
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

  /** The shortest lease under which jobs are run. */
  static Duration shortestLease(Duration grace, Ending ending) {
    return margin(grace, ending).multipliedBy(MARGINS_IN_A_LEASE);
  }

  /** When TERM has to be sent at the latest. */
  Watchdog.Deadline deadline(JobContext job, Ending ending) {
    return () -> at(job, grace.plus(ending.length));
  }

  // The clock is read first: if this process freezes after that, the deadline is early, never late.
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
