package dev.holdfast.lease;

import dev.holdfast.tenant.Columns;
import dev.holdfast.tenant.Db;
import dev.holdfast.tenant.Prepared;
import java.util.List;
import java.util.UUID;
import org.jdbi.v3.core.Handle;

/**
 * Records ends that say nothing but that all went well, as most do. What is the same for all of
 * them is written once, into the statement, instead of being sent and looked up for each.
 */
final class Successes {

  // The plain case of Transitions.FINISH.
  private static final String SUCCEED =
      """
      WITH gone AS (
        DELETE FROM {schema}.job
         WHERE id = ANY ((SELECT :job_ids)::uuid[])
           AND fence = ((SELECT :fences)::bigint[])[width_bucket(id, (SELECT :job_ids)::uuid[])]
           AND state IN ('dispatched', 'running', 'stopping')
           AND stop_as IS DISTINCT FROM 'failed'
        RETURNING *
      )
      INSERT INTO {schema}.job_done
             ({carried}, run_at, granted, worker, finished_at, failures, state, attempt_outcome)
      SELECT {carried}, run_at, granted, worker, {schema}.clock(), failures,
             'succeeded', 'succeeded'
        FROM gone
      """
          .replace("{carried}", Columns.CARRIED);

  private final Prepared succeed;

  Successes(Db db) {
    this.succeed = db.prepared(SUCCEED);
  }

  /** Whether all of them were recorded; if not, some may be, and others need a closer look. */
  boolean record(Handle handle, List<Ended> ended) {
    List<LeaseKey> inOrder = ended.stream().sorted(Ended.BY_JOB).map(Ended::key).toList();
    int recorded =
        succeed.update(
            handle,
            values ->
                values
                    .ids("job_ids", inOrder.stream().map(LeaseKey::jobId).toArray(UUID[]::new))
                    .numbers("fences", inOrder.stream().mapToLong(LeaseKey::fence).toArray()));
    return recorded == ended.size();
  }
}
