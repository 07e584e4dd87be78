package dev.holdfast.outbox;

import dev.holdfast.job.JobState;
import dev.holdfast.job.Moved;
import dev.holdfast.tenant.Columns;
import dev.holdfast.tenant.Db;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jdbi.v3.core.Handle;

/**
 * Stores notes of events for webhooks. A note is written in the transaction that causes it, so it
 * exists if, and only if, that commits; nothing is written when no webhook asks for the event.
 */
public final class Outbox {

  private static final String JOBS_FAILED =
      """
      INSERT INTO {schema}.outbox (event, job_id, detail, at)
      SELECT 'job_failed', job.id, job.kind || ': ' || coalesce(job.error_message, ''),
             {schema}.clock()
        FROM {schema}.job_all AS job
       WHERE job.id = ANY (:job_ids)
         AND job.queue <> 'holdfast.webhooks' -- or telling that telling failed would never end
         AND EXISTS (SELECT FROM {schema}.webhook WHERE 'job_failed' = ANY (webhook.events))
      """;

  private static final String SLOTS_MISSED =
      """
      INSERT INTO {schema}.outbox (event, detail, at)
      SELECT 'slot_missed', :detail, {schema}.clock()
       WHERE EXISTS (SELECT FROM {schema}.webhook WHERE 'slot_missed' = ANY (webhook.events))
      """;

  private static final String TAKE =
      """
      DELETE FROM {schema}.outbox
       WHERE id = ANY (ARRAY (SELECT id
                                FROM {schema}.outbox
                               ORDER BY id
                               LIMIT :limit
                                 FOR UPDATE SKIP LOCKED))
      RETURNING id, event, job_id, detail, at
      """;

  /** An event that a webhook asks for. */
  public record Note(
      long id, String event, Optional<UUID> jobId, Optional<String> detail, Instant at) {}

  private final Db db;

  public Outbox(Db db) {
    this.db = db;
  }

  /** Writes notes of failed jobs, in the transaction that moves the jobs, after the move. */
  public void follow(Handle handle, List<Moved> moved) {
    List<UUID> failed =
        moved.stream().filter(move -> move.to() == JobState.FAILED).map(Moved::jobId).toList();
    if (!failed.isEmpty()) {
      handle.createUpdate(db.sql(JOBS_FAILED)).bindArray("job_ids", UUID.class, failed).execute();
    }
  }

  /** Writes a note of missed slots, in the transaction that skips them. */
  public void slotsMissed(Handle handle, String detail) {
    handle.createUpdate(db.sql(SLOTS_MISSED)).bind("detail", detail).execute();
  }

  /** Takes notes out, for a caller that passes them on in the same transaction. */
  public List<Note> take(Handle handle, int limit) {
    return handle
        .createQuery(db.sql(TAKE))
        .bind("limit", limit)
        .map((row, context) ->
            new Note(
                row.getLong("id"),
                row.getString("event"),
                Optional.ofNullable(row.getObject("job_id", UUID.class)),
                Columns.optionalText(row, "detail"),
                Columns.instant(row, "at")))
        .list();
  }
}
