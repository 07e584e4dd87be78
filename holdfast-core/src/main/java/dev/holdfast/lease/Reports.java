package dev.holdfast.lease;

import dev.holdfast.job.Progress;
import dev.holdfast.tenant.Db;
import org.jdbi.v3.core.Handle;

/** Stores what running attempts report, each write guarded by the attempt's fence. */
final class Reports {

  private static final String PROGRESS =
      """
      UPDATE {schema}.job
         SET cursor = coalesce(:cursor, cursor),
             progress_count = coalesce(:progress_count, progress_count),
             result_count = coalesce(:result_count, result_count),
             percent = coalesce(:percent, percent),
             message = coalesce(:message, message),
             input_tokens = nullif(coalesce(input_tokens, 0) + :input_tokens, 0),
             output_tokens = nullif(coalesce(output_tokens, 0) + :output_tokens, 0),
             progress_at = {schema}.clock()
       WHERE id = :job_id AND fence = :fence AND state IN ('running', 'stopping')
      """;

  // FOR SHARE: the lease cannot pass to somebody else between the check and the insert.
  private static final String LOG =
      """
      WITH mine AS MATERIALIZED (
        SELECT id, fence
          FROM {schema}.job
         WHERE id = :job_id AND fence = :fence AND state IN ('running', 'stopping')
           FOR SHARE
      )
      INSERT INTO {schema}.job_log (job_id, fence, at, line)
      SELECT mine.id, mine.fence, {schema}.clock(), said.line
        FROM mine
       CROSS JOIN unnest(:lines) WITH ORDINALITY AS said (line, number)
       ORDER BY said.number
      """;

  private final Db db;
  private final String progress;
  private final String log;

  Reports(Db db) {
    this.db = db;
    this.progress = db.sql(PROGRESS);
    this.log = db.sql(LOG);
  }

  boolean store(LeaseKey key, Report report) {
    return db.inTransaction(handle -> {
      boolean mine = !report.changesJob() || storeProgress(handle, key, report);
      return mine && (report.logLines().isEmpty() || storeLines(handle, key, report));
    });
  }

  private boolean storeProgress(Handle handle, LeaseKey key, Report report) {
    Progress said = report.progress();
    return handle
            .createUpdate(progress)
            .bind("cursor", said.cursor().orElse(null))
            .bind("progress_count", said.progressCount().stream().boxed().findFirst().orElse(null))
            .bind("result_count", said.resultCount().stream().boxed().findFirst().orElse(null))
            .bind("percent", said.percent().stream().boxed().findFirst().orElse(null))
            .bind("message", said.message().orElse(null))
            .bind("input_tokens", report.inputTokens())
            .bind("output_tokens", report.outputTokens())
            .bind("job_id", key.jobId())
            .bind("fence", key.fence())
            .execute()
        == 1;
  }

  private boolean storeLines(Handle handle, LeaseKey key, Report report) {
    return handle
            .createUpdate(log)
            .bind("job_id", key.jobId())
            .bind("fence", key.fence())
            .bindArray("lines", String.class, report.logLines())
            .execute()
        > 0;
  }
}
