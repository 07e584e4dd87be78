package dev.holdfast.reap;

import dev.holdfast.tenant.Columns;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import org.jdbi.v3.core.statement.Query;
import org.jdbi.v3.core.statement.StatementContext;

/**
 * What there is to do for a reaper, found with one cheap query; mostly nothing.
 *
 * @param serverUp how long the database server has been running
 * @param overdue whether some attempt's lease ran out, it ran too long, or its agent is silent
 * @param untilPassing how long until the next hold of a silent worker passes on; zero is now
 * @param waiting whether some job is parked on a resource
 */
record Outlook(
    Duration serverUp, boolean overdue, Optional<Duration> untilPassing, boolean waiting) {

  // Each subquery reads the first row of an index; for EXISTS, the planner would not look for one.
  static final String LOOK =
      """
      SELECT '{schema}' AS schema_name,
             extract(epoch FROM now() - pg_postmaster_start_time()) * 1000 AS up_ms,
             (SELECT fence FROM {schema}.job WHERE {overdue} ORDER BY fence LIMIT 1) IS NOT NULL
               OR (SELECT agent_job.job_id
                     FROM {schema}.agent
                     JOIN {schema}.agent_job
                       ON agent_job.worker = agent.name AND NOT agent_job.settled
                    WHERE agent.seen_at < {schema}.clock() - {schema}.agent_patience()
                    LIMIT 1) IS NOT NULL
               AS overdue,
             (SELECT extract(epoch FROM min(passes_at) - {schema}.clock()) * 1000
                FROM {schema}.hold
               WHERE passes_at IS NOT NULL) AS passing_ms,
             (SELECT waiting_on
                FROM {schema}.job
               WHERE waiting_on IS NOT NULL
               ORDER BY waiting_on
               LIMIT 1) IS NOT NULL AS waiting
      """
          .replace("{overdue}", OverdueAttempts.isOverdue());

  static Query bind(Query look) {
    return look.bind("grace_ms", Overdue.TIMEOUT_GRACE.toMillis());
  }

  static Outlook read(ResultSet row, StatementContext context) throws SQLException {
    return new Outlook(
        Duration.ofMillis(row.getLong("up_ms")),
        row.getBoolean("overdue"),
        Columns.optionalWait(row, "passing_ms"),
        row.getBoolean("waiting"));
  }

  boolean somethingPasses() {
    return untilPassing.filter(Duration::isZero).isPresent();
  }
}
