package dev.holdfast.audit;

import dev.holdfast.job.Limits;
import dev.holdfast.tenant.Db;
import dev.holdfast.tenant.Tenant;
import java.util.List;
import java.util.UUID;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/**
 * The audit record: what people did. It is written in the transaction of the act, so neither exists
 * without the other.
 */
public final class Audit {

  private static final String WRITE =
      """
      INSERT INTO {schema}.audit (at, actor, act, job_id, resource, before, after, reason)
      VALUES ({schema}.clock(), :actor, :act, :job_id::uuid, :resource, :before, :after, :reason)
      """;

  private static final String LATEST =
      """
      SELECT * FROM {schema}.audit WHERE id < :before_id ORDER BY id DESC LIMIT :limit
      """;

  private static final String OF_JOB =
      """
      SELECT * FROM {schema}.audit WHERE job_id = :job_id ORDER BY id
      """;

  private static final String LAST_OF_JOB =
      """
      SELECT * FROM {schema}.audit WHERE job_id = :job_id ORDER BY id DESC LIMIT :limit
      """;

  private final Db db;
  private final String write;
  private final String latest;
  private final String ofJob;

  public Audit(Tenant tenant) {
    this(tenant.db());
  }

  public Audit(Db db) {
    this.db = db;
    this.write = db.sql(WRITE);
    this.latest = db.sql(LATEST);
    this.ofJob = db.sql(OF_JOB);
  }

  /** Records an act on a job. */
  public void write(Handle handle, Act act, String name, UUID jobId, String before, String after) {
    write(handle, act, name, jobId, null, before, after);
  }

  /** Records an act on a resource. */
  public void write(
      Handle handle, Act act, String name, String resource, String before, String after) {
    write(handle, act, name, null, resource, before, after);
  }

  private void write(
      Handle handle,
      Act act,
      String name,
      @Nullable UUID jobId,
      @Nullable String resource,
      String before,
      String after) {
    handle
        .createUpdate(write)
        .bind("actor", act.actor())
        .bind("act", name)
        .bind("job_id", jobId)
        .bind("resource", resource)
        .bind("before", before)
        .bind("after", after)
        .bind("reason", act.reason().orElse(null))
        .execute();
  }

  /** Newest first. */
  public List<AuditRecord> latest(int limit) {
    return before(Long.MAX_VALUE, limit);
  }

  /** Newest first, before the record with this id. */
  public List<AuditRecord> before(long id, int limit) {
    Limits.page("limit", limit);
    return db.withHandle(handle ->
        handle
            .createQuery(latest)
            .bind("before_id", id)
            .bind("limit", limit)
            .map((row, context) -> AuditRecord.of(row))
            .list());
  }

  /** Oldest first. */
  public List<AuditRecord> ofJob(UUID jobId) {
    return db.withHandle(handle ->
        handle
            .createQuery(ofJob)
            .bind("job_id", jobId)
            .map((row, context) -> AuditRecord.of(row))
            .list());
  }

  /** Newest first. */
  public List<AuditRecord> lastOfJob(UUID jobId, int limit) {
    Limits.page("limit", limit);
    return db.withHandle(handle ->
        handle
            .createQuery(db.sql(LAST_OF_JOB))
            .bind("job_id", jobId)
            .bind("limit", limit)
            .map((row, context) -> AuditRecord.of(row))
            .list());
  }
}
