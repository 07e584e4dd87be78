package dev.holdfast.hold;

import dev.holdfast.tenant.Db;
import java.util.UUID;
import org.jdbi.v3.core.Handle;

/**
 * Stores blocks: jobs that stand on their target, paused or failed, and keep it until an operator
 * acts. A target can have any number of them, also beside a running job. Changed only under the
 * target's lock, see {@link Holds}.
 */
public final class Blocks {

  private static final String PUT =
      """
      INSERT INTO {schema}.block (resource, job_id, reason, actor, since)
      VALUES (:resource, :job_id, :reason, :actor, {schema}.clock())
      ON CONFLICT (resource, job_id) DO NOTHING
      """;

  private static final String REMOVE =
      """
      DELETE FROM {schema}.block WHERE job_id = :job_id
      """;

  private final String put;
  private final String remove;

  public Blocks(Db db) {
    this.put = db.sql(PUT);
    this.remove = db.sql(REMOVE);
  }

  public void put(Handle handle, String resource, UUID jobId, String reason, String actor) {
    handle
        .createUpdate(put)
        .bind("resource", resource)
        .bind("job_id", jobId)
        .bind("reason", reason)
        .bind("actor", actor)
        .execute();
  }

  /** Removes the job's block; false when there was none. */
  public boolean remove(Handle handle, UUID jobId) {
    return handle.createUpdate(remove).bind("job_id", jobId).execute() > 0;
  }
}
