package dev.holdfast.lease;

import dev.holdfast.job.JobState;
import dev.holdfast.tenant.Columns;
import dev.holdfast.tenant.Db;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/** Recognises ends that an earlier call recorded already. Thread-safe. */
final class Repeats {

  // An end that is reported twice: the answer to the first report got lost, or another tenant's
  // part of the batch failed. Only the same end by the same worker counts, not what the reaper
  // recorded meanwhile: that is lost, or failed with a code of its own. A requested stop makes
  // other ends one that is stopped, with a code of its own, and a success only where the job was
  // over its token limit.
  private static final String RECORDED =
      """
      SELECT asked.job_id AS id, asked.fence,
             coalesce(done.state, live.state, 'queued') AS state,
             coalesce(done.attempt_outcome, earlier.outcome) = 'stopped' AS stopped
        FROM unnest((SELECT :job_ids), (SELECT :fences), (SELECT :outcomes),
                    (SELECT :error_codes), (SELECT :workers))
          AS asked (job_id, fence, outcome, error_code, worker)
        LEFT JOIN LATERAL (
          SELECT job_done.state, job_done.attempt_outcome
            FROM {schema}.job_done
           WHERE job_done.id = asked.job_id AND job_done.fence = asked.fence
             AND ((job_done.attempt_outcome = asked.outcome
                   AND (asked.outcome <> 'failed' OR job_done.error_code = asked.error_code))
                  OR (job_done.attempt_outcome = 'stopped'
                      AND (asked.outcome IN ('failed', 'snoozed', 'released', 'lost')
                           OR (asked.outcome = 'succeeded'
                               AND job_done.error_code = 'TOKEN_LIMIT'))))
             AND job_done.worker = asked.worker
          OFFSET 0
        ) AS done ON true
        LEFT JOIN LATERAL (
          SELECT attempt.outcome
            FROM {schema}.attempt
           WHERE attempt.job_id = asked.job_id AND attempt.fence = asked.fence
             AND ((attempt.outcome = asked.outcome
                   AND (asked.outcome <> 'failed' OR attempt.error_code = asked.error_code))
                  OR (attempt.outcome = 'stopped'
                      AND (asked.outcome IN ('failed', 'snoozed', 'released', 'lost')
                           OR (asked.outcome = 'succeeded'
                               AND attempt.error_code = 'TOKEN_LIMIT'))))
             AND attempt.worker = asked.worker
          OFFSET 0
        ) AS earlier ON true
        LEFT JOIN LATERAL (
          SELECT job.state
            FROM {schema}.job
           WHERE job.id = asked.job_id AND job.fence = asked.fence
          OFFSET 0
        ) AS live ON true
       WHERE done.state IS NOT NULL OR earlier.outcome IS NOT NULL
      """;

  /**
   * An end, as its worker reports it.
   *
   * @param errorCode the code of a failure
   */
  record Said(LeaseKey key, String worker, String outcome, Optional<String> errorCode) {

    static Said of(Ended end) {
      return new Said(
          end.key(),
          end.lease().worker(),
          end.transition().attemptOutcome(),
          Optional.ofNullable(end.errorCode()));
    }
  }

  /**
   * An end that is recorded already.
   *
   * @param state what became of the job
   * @param wasStopped whether the attempt was stopped, whatever its worker said
   */
  record Known(JobState state, boolean wasStopped) {

    FinishReply reply() {
      return new FinishReply.Recorded(state);
    }
  }

  private final Db db;
  private final String recorded;

  Repeats(Db db) {
    this.db = db;
    this.recorded = db.sql(RECORDED);
  }

  /** The ends among these that are recorded already, and what became of their jobs. */
  Map<LeaseKey, Known> recorded(List<Said> ends) {
    if (ends.isEmpty()) {
      return Map.of();
    }
    String tenant = ends.getFirst().key.tenant();
    Map<LeaseKey, Known> found = new HashMap<>();
    db.useHandle(handle ->
        handle
            .createQuery(recorded)
            .bindArray("job_ids", UUID.class, ends.stream().map(end -> end.key.jobId()).toArray())
            .bindArray("fences", Long.class, ends.stream().map(end -> end.key.fence()).toArray())
            .bindArray("outcomes", String.class, ends.stream().map(Said::outcome).toArray())
            .bindArray(
                "error_codes",
                String.class,
                ends.stream().map(end -> Columns.orNull(end.errorCode)).toArray())
            .bindArray("workers", String.class, ends.stream().map(Said::worker).toArray())
            .map((row, context) ->
                found.put(
                    new LeaseKey(tenant, row.getObject("id", UUID.class), row.getLong("fence")),
                    new Known(JobState.of(row.getString("state")), row.getBoolean("stopped"))))
            .list());
    return found;
  }
}
