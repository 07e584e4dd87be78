package dev.holdfast.reap;

import dev.holdfast.job.Policy;
import dev.holdfast.tenant.Db;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.function.LongSupplier;
import org.jdbi.v3.core.statement.StatementContext;

/**
 * Records in the database when it could not be reached. The reapers of all nodes note each of their
 * rounds there; the first that comes too late after the last one also records a gap. So a reaper
 * that has just started knows as much as those that ran before it.
 *
 * <p>When a round comes late, the database may have been away all the time since the last one. But
 * when rounds are late for the third time in a row, the reapers are only slow: then no more than
 * the delay is counted, or the leases of dead workers would last as long as the reapers are slow.
 *
 * <p>Thread-safe.
 */
public final class Outages {

  // Time before this counts as away. By then, the longest lease had time to be renewed, and the
  // longest patience with agents, two days, to end.
  private static final Duration KEPT = Policy.LONGEST_LEASE.multipliedBy(3);

  // The oldest gaps beyond this number are forgotten. Where there are so many, they are short.
  private static final int MOST_GAPS = 1_000;

  // Reapers do not wait for each other: a reaper that finds the row locked, or written just now,
  // has nothing to add. Times in the future were written before the clock was set back: a gap that
  // ends there is as long as the clock was ahead, and nothing was missed in it.
  private static final String COME =
      """
      WITH missed AS (
        SELECT at,
               CASE WHEN late > 1 THEN at + :period_ms * interval '1 millisecond' ELSE at END AS since,
               now() AS until
          FROM {schema}.reached
         WHERE at < now() - :late_ms * interval '1 millisecond'
      ), mine AS (
        SELECT at
          FROM {schema}.reached
         WHERE at NOT BETWEEN now() - :fresh_ms * interval '1 millisecond'
                          AND now() + :fresh_ms * interval '1 millisecond'
           FOR UPDATE SKIP LOCKED
      ), noted AS (
        INSERT INTO {schema}.outage (since, until)
        SELECT since, until FROM missed JOIN mine USING (at)
        RETURNING until
      ), come AS (
        UPDATE {schema}.reached
           SET at = now(), late = CASE WHEN EXISTS (SELECT FROM noted) THEN late + 1 ELSE 0 END
          FROM mine
      ), forgotten AS (
        DELETE FROM {schema}.outage
         WHERE until > now() + :fresh_ms * interval '1 millisecond'
            OR (until <= greatest(now() - :kept_ms * interval '1 millisecond',
                                  (SELECT until
                                     FROM {schema}.outage
                                    ORDER BY until DESC
                                   OFFSET :most
                                    LIMIT 1))
                AND EXISTS (SELECT FROM noted))
      )
      SELECT extract(epoch FROM now() - since) * 1000 AS began_ms,
             extract(epoch FROM now() - until) * 1000 AS ended_ms
        FROM (SELECT since, until
                FROM {schema}.outage
               WHERE until BETWEEN now() - :kept_ms * interval '1 millisecond'
                               AND now() + :fresh_ms * interval '1 millisecond'
               UNION ALL
              SELECT since, until FROM missed -- what was noted just now, whoever did, is not seen
             ) AS gap
      """;

  /** A time in which the database was away: how long ago it began, and how long ago it ended. */
  private record Gap(Duration began, Duration ended) {

    static Gap read(ResultSet row, StatementContext context) throws SQLException {
      return new Gap(
          Duration.ofMillis(row.getLong("began_ms")), Duration.ofMillis(row.getLong("ended_ms")));
    }

    Duration within(Duration last) {
      return notNegative(shorter(began, last).minus(longer(ended, Duration.ZERO)));
    }
  }

  private final Db db;
  private final Duration period;
  private final Duration late;
  private final LongSupplier nanoTime;
  private final String come;

  /**
   * For the reapers of one node.
   *
   * @param period the usual time between two rounds, the same on all nodes
   */
  public Outages(Db control, Duration period, LongSupplier nanoTime) {
    this.db = control;
    this.period = period;
    this.late = period.multipliedBy(3).dividedBy(2);
    this.nanoTime = nanoTime;
    this.come = control.sql(COME);
  }

  /**
   * Measures how long workers could not renew their leases. Called once in every round of the
   * reapers.
   *
   * @param serverUp how long the database server has been running
   */
  public Downtime measure(Duration serverUp) {
    long askedNanos = nanoTime.getAsLong();
    List<Gap> gaps =
        db.withHandle(handle ->
            handle
                .createQuery(come)
                .bind("period_ms", period.toMillis())
                .bind("late_ms", late.toMillis())
                .bind("fresh_ms", period.dividedBy(10).toMillis())
                .bind("kept_ms", KEPT.toMillis())
                .bind("most", MOST_GAPS)
                .map(Gap::read)
                .list());
    Duration known = shorter(serverUp, KEPT);
    return last -> within(last, gaps, known, Duration.ofNanos(nanoTime.getAsLong() - askedNanos));
  }

  // If this node, or its database, was frozen since it asked, that time counts as away, too.
  private Duration within(Duration last, List<Gap> gaps, Duration known, Duration sinceAsked) {
    Duration before = notNegative(last.minus(sinceAsked));
    Duration away = notNegative(before.minus(known));
    for (Gap each : gaps) {
      away = away.plus(each.within(shorter(before, known)));
    }
    return sinceAsked.compareTo(late) > 0 ? away.plus(shorter(sinceAsked, last)) : away;
  }

  private static Duration shorter(Duration one, Duration other) {
    return one.compareTo(other) < 0 ? one : other;
  }

  private static Duration longer(Duration one, Duration other) {
    return one.compareTo(other) > 0 ? one : other;
  }

  private static Duration notNegative(Duration time) {
    return longer(time, Duration.ZERO);
  }
}
