package dev.holdfast.server.dialect.agents;

import dev.holdfast.tenant.Columns;
import dev.holdfast.tenant.Db;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jdbi.v3.core.Handle;

/** What the files of one tenant's jobs show, as far as they were written. Thread-safe. */
final class Catalogue {

  private static final String MAKE =
      """
      INSERT INTO {schema}.agent_job (job_id) VALUES (:id) ON CONFLICT DO NOTHING
      """;

  private static final String LOCK =
      """
      SELECT job_id FROM {schema}.agent_job WHERE job_id = :id FOR UPDATE
      """;

  // The lease of one that waits again is over, and so is what was said under it: should it end
  // while it waits, that is not the end of whoever had it before.
  private static final String SHOW =
      """
      UPDATE {schema}.agent_job
         SET shown = :shown, shown_revision = :revision, shown_info = :info,
             queue_file = :queue_file, settled = :settled,
             fence = CASE WHEN :waiting AND fence = :fence THEN NULL ELSE fence END,
             shown_at = CASE WHEN :again THEN shown_at ELSE {schema}.clock() END
       WHERE job_id = :id
      RETURNING shown_at
      """;

  // What others did: workers that know more than these words, people, the reaper. Those whose end
  // is shown are not walked over: what moved one of them is in the record, or it waits again.
  private static final String UNSHOWN =
      """
      SELECT agent_job.job_id
        FROM {schema}.agent_job
        LEFT JOIN LATERAL (
          SELECT state, fence, lane FROM {schema}.job WHERE job.id = agent_job.job_id
          UNION ALL
          SELECT state, fence, lane FROM {schema}.job_done WHERE job_done.id = agent_job.job_id
        ) AS found ON true
        LEFT JOIN {schema}.lane ON lane.id = found.lane AND found.state = 'queued'
       WHERE NOT agent_job.settled
         AND (agent_job.shown IS DISTINCT FROM
                found.state || ':' || found.fence
                  || coalesce(':' || lane.host || ':' || lane.host_required::text, '')
              OR agent_job.shown_revision IS DISTINCT FROM agent_job.revision)
      UNION
      SELECT job.id
        FROM {schema}.lane
        JOIN {schema}.job
          ON job.lane = lane.id AND job.state = 'queued' AND job.waiting_on IS NULL
        LEFT JOIN {schema}.agent_job ON agent_job.job_id = job.id
       WHERE lane.queue = :queue AND lane.kind = :kind
         AND coalesce(agent_job.settled, true)
      UNION
      SELECT agent_job.job_id
        FROM (SELECT DISTINCT job_id
                FROM (SELECT job_id FROM {schema}.audit ORDER BY id DESC LIMIT 500) AS latest
               WHERE job_id IS NOT NULL) AS acted
        JOIN {schema}.agent_job ON agent_job.job_id = acted.job_id
        LEFT JOIN LATERAL (
          SELECT state, fence FROM {schema}.job WHERE job.id = agent_job.job_id
          UNION ALL
          SELECT state, fence FROM {schema}.job_done WHERE job_done.id = agent_job.job_id
        ) AS found ON true
       WHERE agent_job.settled
         AND agent_job.shown IS DISTINCT FROM found.state || ':' || found.fence
      UNION
      SELECT job_id FROM {schema}.agent_job WHERE removing
      """;

  // Of jobs that are no longer remembered, though nobody asked for their files to go.
  private static final String FORGOTTEN =
      """
      SELECT agent_job.job_id
        FROM {schema}.agent_job
        LEFT JOIN LATERAL (
          SELECT id FROM {schema}.job WHERE job.id = agent_job.job_id
          UNION ALL
          SELECT id FROM {schema}.job_done WHERE job_done.id = agent_job.job_id
        ) AS found ON true
       WHERE agent_job.settled AND found.id IS NULL
       LIMIT 1000
      """;

  private static final String KNOWN =
      """
      SELECT job_id FROM {schema}.agent_job
      """;

  private static final String REMOVE =
      """
      UPDATE {schema}.agent_job SET removing = true WHERE job_id = :id
      """;

  private static final String FORGET =
      """
      DELETE FROM {schema}.agent_job WHERE job_id = :id
      """;

  private static final String LEFT =
      """
      SELECT removing, queue_file FROM {schema}.agent_job WHERE job_id = :id
      """;

  /**
   * What is known of a job that is no longer there.
   *
   * @param removing what it left is to go, too
   */
  record Left(boolean removing, Optional<String> queueFile) {}

  private final Db db;

  Catalogue(Db db) {
    this.db = db;
  }

  void make(Handle handle, UUID id) {
    handle.createUpdate(db.sql(MAKE)).bind("id", id).execute();
  }

  /** From now on nobody else writes its files. */
  void lockOrMake(Handle handle, UUID id) {
    while (!lock(handle, id)) {
      make(handle, id);
    }
  }

  /** The same; false when nothing was ever written of it. */
  boolean lock(Handle handle, UUID id) {
    return handle.createQuery(db.sql(LOCK)).bind("id", id).mapTo(UUID.class).findOne().isPresent();
  }

  /** Its files show it as it is; answers since when. */
  Instant show(Handle handle, AgentJob job, String info, Optional<String> queueFile) {
    return handle
        .createQuery(db.sql(SHOW))
        .bind("id", job.id())
        .bind("shown", job.key())
        .bind("revision", job.words().revision())
        .bind("info", info)
        .bind("queue_file", Columns.orNull(queueFile))
        .bind("settled", job.state().isFinished())
        .bind("waiting", job.isWaiting())
        .bind("fence", job.fence())
        .bind("again", job.isShown() && job.shown().at().isPresent())
        .map((row, context) -> Columns.instant(row, "shown_at"))
        .one();
  }

  /** Those whose files do not show what they are. */
  List<UUID> unshown() {
    return db.inTransaction(handle ->
        handle
            .createQuery(db.sql(UNSHOWN))
            .bind("queue", Simulation.QUEUE)
            .bind("kind", Simulation.KIND)
            .mapTo(UUID.class)
            .list());
  }

  /** Those of which there is nothing left but this. */
  List<UUID> forgotten() {
    return db.inTransaction(
        handle -> handle.createQuery(db.sql(FORGOTTEN)).mapTo(UUID.class).list());
  }

  List<UUID> known() {
    return db.withHandle(handle -> handle.createQuery(db.sql(KNOWN)).mapTo(UUID.class).list());
  }

  /** When the job is gone, so are its files to be. */
  void remove(UUID id) {
    db.useHandle(handle -> handle.createUpdate(db.sql(REMOVE)).bind("id", id).execute());
  }

  Left left(Handle handle, UUID id) {
    return handle
        .createQuery(db.sql(LEFT))
        .bind("id", id)
        .map((row, context) ->
            new Left(row.getBoolean("removing"), Columns.optionalText(row, "queue_file")))
        .one();
  }

  void forget(Handle handle, UUID id) {
    handle.createUpdate(db.sql(FORGET)).bind("id", id).execute();
  }
}
