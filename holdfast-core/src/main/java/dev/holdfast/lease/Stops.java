package dev.holdfast.lease;

import dev.holdfast.job.Failure;
import dev.holdfast.job.JobState;
import dev.holdfast.job.StopRequest;
import dev.holdfast.tenant.Db;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.result.RowView;
import org.jdbi.v3.core.statement.Query;

/**
 * Stop requests for running jobs, and what those jobs are to end as. A worker's own request is
 * written here, an operator's by {@code ActStatements.REQUEST_STOP}, and that of a token limit by
 * {@code Reports.STOP_AT_LIMIT}.
 */
final class Stops {

  // For ends that could not be written because the job was asked to stop: what it is to end as.
  private static final String STOPPING =
      """
      SELECT job.id, job.fence, job.stop_as, job.error_code, job.error_message
        FROM unnest((SELECT :job_ids), (SELECT :fences)) AS ended (job_id, fence)
       CROSS JOIN LATERAL (
         SELECT id, fence, stop_as, error_code, error_message
           FROM {schema}.job
          WHERE job.id = ended.job_id AND job.fence = ended.fence AND job.state = 'stopping'
            FOR UPDATE
       ) AS job
      """;

  private static final String REQUEST =
      """
      UPDATE {schema}.job
         SET state = 'stopping'
       WHERE id = :job_id AND fence = :fence AND worker = :worker
         AND state IN ('dispatched', 'running')
      """;

  private final Db db;
  private final String stopping;

  Stops(Db db) {
    this.db = db;
    this.stopping = db.sql(STOPPING);
  }

  /** A worker asks its own job to stop; false when it is not its job. */
  boolean request(String worker, LeaseKey key) {
    return db.withHandle(handle ->
        handle
            .createUpdate(db.sql(REQUEST))
            .bind("job_id", key.jobId())
            .bind("fence", key.fence())
            .bind("worker", worker)
            .execute())
        == 1;
  }

  /**
   * Of ends that could not be written, those whose job was asked to stop, changed to what was
   * asked.
   */
  List<Ended> asWanted(Handle handle, List<Ended> refused) {
    Query query = handle.createQuery(stopping);
    Ended.bindKeys(query, refused.stream().sorted(Ended.BY_JOB).toList());
    String tenant = refused.getFirst().key().tenant();
    Map<LeaseKey, StopRequest> wanted =
        query.reduceRows(
            new HashMap<>(),
            (found, row) -> {
              found.put(
                  new LeaseKey(
                      tenant, row.getColumn("id", UUID.class), row.getColumn("fence", Long.class)),
                  asked(row));
              return found;
            });
    return refused.stream()
        .flatMap(end -> Optional.ofNullable(wanted.get(end.key())).map(end::asStopped).stream())
        .toList();
  }

  private static StopRequest asked(RowView row) {
    Optional<JobState> as =
        Optional.ofNullable(row.getColumn("stop_as", String.class)).map(JobState::of);
    return new StopRequest(
        as,
        as.filter(state -> state == JobState.FAILED)
            .map(failed ->
                Failure.permanent(
                    row.getColumn("error_code", String.class),
                    row.getColumn("error_message", String.class))));
  }
}
