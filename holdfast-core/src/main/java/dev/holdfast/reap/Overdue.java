package dev.holdfast.reap;

import dev.holdfast.job.Failure;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Limits;
import dev.holdfast.job.Outcome;
import dev.holdfast.job.Policy.OnLeaseLost;
import dev.holdfast.lease.Lease;
import dev.holdfast.loop.Loop;
import dev.holdfast.tenant.Columns;
import dev.holdfast.tenant.Db;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * An attempt whose lease ran out or that ran too long, read under its job's lock. Decides whether
 * the attempt is over, and with which outcome.
 *
 * @param silent how long ago its lease ran out; negative while it has not
 * @param tooLong by how much it ran too long, if its lease was still in force at its time limit
 * @param said the last lines of its log
 */
record Overdue(
    Lease lease,
    JobState state,
    Optional<JobState> stopAs,
    Instant startedAt,
    Duration silent,
    Optional<Duration> tooLong,
    Optional<Silence> agent,
    Optional<String> said) {

  // How long a worker gets to report itself that an attempt ran too long.
  static final Duration TIMEOUT_GRACE = Duration.ofSeconds(2);

  // How long a worker that could not record an end may wait to try again, and then for the locks of
  // a transaction that has gone silent.
  private static final Duration LONGEST_DELAY =
      Loop.LONGEST_PAUSE_AFTER_ERROR.plus(Db.LONGEST_SILENCE);

  static Overdue read(Lease lease, ResultSet row) throws SQLException {
    return new Overdue(
        lease,
        JobState.of(row.getString("state")),
        Columns.optionalText(row, "stop_as").map(JobState::of),
        Columns.instant(row, "started_at"),
        Duration.ofMillis(row.getLong("silent_ms")),
        Columns.optionalMillis(row, "too_long_ms"),
        silence(row),
        Columns.optionalText(row, "said").map(Overdue::excerpt));
  }

  private static Optional<Silence> silence(ResultSet row) throws SQLException {
    Optional<Duration> lasts = Columns.optionalMillis(row, "agent_silent_ms");
    return lasts.isEmpty()
        ? Optional.empty()
        : Optional.of(
            new Silence(
                lasts.get(),
                Duration.ofMillis(row.getLong("agent_patience_ms")),
                Duration.ofMillis(row.getLong("agent_lease_ms"))));
  }

  private static String excerpt(String said) {
    return said.substring(Math.max(0, said.length() - Limits.LOG_EXCERPT_CHARS));
  }

  /**
   * A worker that was cut off from the database together with us is not dead. A lease counts as
   * lost only if, since its last renewal, the database could be reached for at least as long as the
   * lease lasts.
   */
  boolean isOver(Downtime downtime) {
    Duration length = agent.map(Silence::lease).orElse(lease.length());
    return tooLong.filter(by -> ranTooLong(by, downtime)).isPresent()
        || (silent.isPositive() && silent.compareTo(downtime.within(length.plus(silent))) > 0)
        || agent.filter(silence -> silence.isTooLong(downtime)).isPresent();
  }

  // The attempt may have ended in time, but its worker could not report that while the database was
  // away.
  private static boolean ranTooLong(Duration by, Downtime downtime) {
    return by.compareTo(TIMEOUT_GRACE.plus(downtime.within(by.plus(LONGEST_DELAY)))) > 0;
  }

  Outcome outcome() {
    if (tooLong.isPresent()) {
      return Outcome.failed(Failure.timeout(lease.policy().timeout()));
    }
    return switch (state) {
      case STOPPING -> stopping();
      case DISPATCHED -> new Outcome.NeverStarted();
      default -> new Outcome.LeaseExpired(lease.worker());
    };
  }

  // A job that was asked to stop and whose worker is gone has stopped. But where a lost lease is a
  // failure, it still is one, unless the stop request said that the job is to be cancelled or to
  // fail.
  private Outcome stopping() {
    boolean decided = stopAs.isPresent() && stopAs.get() != JobState.PAUSED;
    return decided || lease.policy().onLeaseLost() == OnLeaseLost.RETRY
        ? new Outcome.Stopped()
        : new Outcome.LeaseExpired(lease.worker());
  }

  /**
   * How long an agent has not been heard of, and how long that may be.
   *
   * @param lease how long the agent may report nothing about this job
   */
  record Silence(Duration lasts, Duration patience, Duration lease) {

    /** As with leases, time in which the database was away does not count. */
    boolean isTooLong(Downtime downtime) {
      return lasts.compareTo(patience.plus(downtime.within(lasts))) > 0;
    }
  }
}
