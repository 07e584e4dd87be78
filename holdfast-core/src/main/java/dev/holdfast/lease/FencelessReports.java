package dev.holdfast.lease;

import dev.holdfast.job.JobState;
import dev.holdfast.tenant.Columns;
import dev.holdfast.tenant.Db;
import dev.holdfast.tenant.Tenant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * Stores what agents report about their jobs, apart from how the jobs end. Each report is stored
 * only while the lease is in force: it is guarded by job, fence, worker and state. Thread-safe.
 *
 * <p>The agents are {@link dev.holdfast.fleet.FencelessAgents}: they send no fence with which a
 * lease could be renewed, so every report renews the lease.
 */
public final class FencelessReports {

  // A new lease clears what was reported under earlier ones.
  private static final String GIVEN =
      """
      INSERT INTO {schema}.agent_job (job_id, worker, fence, heard_at, revision)
      SELECT job_id, worker, fence, {schema}.clock(), 1
        FROM unnest(:job_ids, :workers, :fences) AS given (job_id, worker, fence)
       ORDER BY job_id
      ON CONFLICT (job_id) DO UPDATE
         SET worker = excluded.worker, fence = excluded.fence, heard_at = excluded.heard_at,
             said = NULL, container_id = NULL, container_name = NULL, exit_code = NULL,
             error = NULL, details = NULL, revision = agent_job.revision + 1, settled = false
       WHERE coalesce(agent_job.fence, 0) < excluded.fence
      """;

  // Between an agent's last word and the end that follows it, a repeat of an earlier word may
  // arrive late. The last word stays: by it the end is told from one that only the engine knows of.
  private static final String SAY =
      """
      WITH mine AS (
        UPDATE {schema}.job
           SET lease_expires_at = {schema}.clock() + {schema}.agent_lease(true)
         WHERE id = :job_id AND fence = :fence AND worker = :worker AND state = :state
        RETURNING id, worker, fence
      )
      INSERT INTO {schema}.agent_job
             (job_id, worker, fence, heard_at, said, container_id, container_name, exit_code, error,
              details, revision)
      SELECT id, worker, fence, {schema}.clock(), :said, :container_id, :container_name,
             :exit_code, :error, :details::json, 1
        FROM mine
      ON CONFLICT (job_id) DO UPDATE
         SET worker = excluded.worker, fence = excluded.fence, heard_at = excluded.heard_at,
             said = CASE WHEN agent_job.fence = excluded.fence
                              AND agent_job.said IN ('finished', 'failed', 'stopped', 'canceled')
                              AND excluded.said IN ('dispatched', 'running', 'stop_requested')
                         THEN agent_job.said
                         ELSE excluded.said
                     END,
             container_id = coalesce(excluded.container_id, agent_job.container_id),
             container_name = coalesce(excluded.container_name, agent_job.container_name),
             exit_code = coalesce(excluded.exit_code, agent_job.exit_code),
             error = coalesce(excluded.error, agent_job.error),
             details = coalesce(excluded.details, agent_job.details),
             revision = agent_job.revision + 1
      """;

  // Used when the setting of how long an agent may be silent has changed; that time counts from the
  // last report. A row that is locked is being renewed or ended by another transaction, so it is
  // skipped.
  private static final String RENEW =
      """
      WITH had AS MATERIALIZED (
        SELECT job.id, agent_job.heard_at, agent_job.said
          FROM {schema}.agent_job
         CROSS JOIN LATERAL (
           SELECT id
             FROM {schema}.job
            WHERE job.id = agent_job.job_id
              AND job.fence = agent_job.fence
              AND job.worker = agent_job.worker
              FOR UPDATE SKIP LOCKED
         ) AS job
         WHERE NOT agent_job.settled
      )
      UPDATE {schema}.job
         SET lease_expires_at = had.heard_at + {schema}.agent_lease(had.said IS NOT NULL)
        FROM had
       WHERE job.id = had.id
      """;

  /**
   * What an agent reports about a job.
   *
   * @param status the job's status, in the agent's own words
   */
  public record AgentReport(
      String status,
      Optional<String> containerId,
      Optional<String> containerName,
      Optional<Integer> exitCode,
      Optional<String> error,
      Optional<String> details) {}

  private final Db db;
  private final String given;
  private final String say;

  public FencelessReports(Tenant tenant) {
    this.db = tenant.db();
    this.given = db.sql(GIVEN);
    this.say = db.sql(SAY);
  }

  /** Records that these jobs were dispatched, each to the agent that its lease names. */
  public void given(List<Lease> leases) {
    if (leases.isEmpty()) {
      return;
    }
    List<Lease> sorted = leases.stream().sorted(Lease.BY_JOB).toList();
    db.useHandle(handle ->
        handle
            .createUpdate(given)
            .bindArray("job_ids", UUID.class, sorted.stream().map(l -> l.key().jobId()).toArray())
            .bindArray("workers", String.class, sorted.stream().map(Lease::worker).toArray())
            .bindArray("fences", Long.class, sorted.stream().map(l -> l.key().fence()).toArray())
            .execute());
  }

  /**
   * Stores a report and renews the lease; false when the job is not that agent's, or not in that
   * state. A status that is an end is not replaced by one that comes before it.
   */
  public boolean say(String worker, LeaseKey key, JobState state, AgentReport report) {
    return db.withHandle(handle ->
        handle
            .createUpdate(say)
            .bind("job_id", key.jobId())
            .bind("fence", key.fence())
            .bind("worker", worker)
            .bind("state", state.stored())
            .bind("said", report.status)
            .bind("container_id", Columns.orNull(report.containerId))
            .bind("container_name", Columns.orNull(report.containerName))
            .bind("exit_code", Columns.orNull(report.exitCode))
            .bind("error", Columns.orNull(report.error))
            .bind("details", Columns.orNull(report.details))
            .execute())
        == 1;
  }

  /** Sets the ends of all agents' leases to what the current settings say; returns how many. */
  public int renewAll() {
    return db.withHandle(handle -> handle.createUpdate(db.sql(RENEW)).execute());
  }
}
