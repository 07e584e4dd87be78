package dev.holdfast.queue;

import dev.holdfast.job.AttemptRecord;
import dev.holdfast.job.Limits;
import dev.holdfast.tenant.Db;
import dev.holdfast.tenant.Portion;
import java.util.List;
import java.util.UUID;
import org.jdbi.v3.core.statement.Query;

/** Reads the ended attempts of jobs. */
final class AttemptList {

  private static final String ALL =
      """
      SELECT * FROM {schema}.attempt_all WHERE job_id = :id ORDER BY fence
      """;

  private static final String AFTER =
      """
      SELECT *
        FROM {schema}.attempt_all
       WHERE job_id = :id AND fence > :after
       ORDER BY fence
       LIMIT :limit
      """;

  private static final String LAST =
      """
      SELECT *
        FROM {schema}.attempt_all
       WHERE job_id = :id
       ORDER BY fence DESC
       LIMIT :limit
      """;

  private final Db db;
  private final String all;

  AttemptList(Db db) {
    this.db = db;
    this.all = db.sql(ALL);
  }

  /** Oldest first. */
  List<AttemptRecord> all(UUID id) {
    return db.withHandle(
        handle -> handle.createQuery(all).bind("id", id).map(JobMapper.ATTEMPT).list());
  }

  /** Oldest first, after the attempt with this fence. */
  Portion<AttemptRecord> after(long fence, UUID id, int limit) {
    return db.inTransaction(
        handle -> portion(handle.createQuery(db.sql(AFTER)).bind("after", fence), id, limit));
  }

  /** Newest first. */
  Portion<AttemptRecord> last(UUID id, int limit) {
    return db.inTransaction(handle -> portion(handle.createQuery(db.sql(LAST)), id, limit));
  }

  private static Portion<AttemptRecord> portion(Query query, UUID id, int limit) {
    Limits.page("limit", limit);
    return Portion.of(
        query.bind("id", id).bind("limit", limit), limit, JobMapper.ATTEMPT, JobMapper::weight);
  }
}
