package dev.holdfast.queue;

import dev.holdfast.job.Job;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Limits;
import dev.holdfast.tenant.Columns;
import dev.holdfast.tenant.Db;
import dev.holdfast.tenant.Portion;
import java.util.Optional;
import java.util.UUID;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.statement.Query;

/**
 * Lists jobs, live and finished, in descending order of their ids. Ids that the engine makes begin
 * with their time, so that is newest first, and both tables have an index for it; ids that a client
 * chose, and those of agents' jobs, stand where they fall. Filters have no index of their own,
 * because that would slow down the writes of every job; instead a page looks at a limited number of
 * jobs.
 */
final class JobList {

  private static final int MOST_LOOKED_AT = 20_000;

  private static final UUID FIRST = new UUID(0, 0);
  private static final UUID LAST = new UUID(-1, -1);

  // The last job that one page looks at.
  private static final String REACH =
      """
      SELECT id
        FROM ((SELECT id FROM {schema}.job WHERE id < :after ORDER BY id DESC LIMIT :most)
              UNION ALL
              (SELECT id FROM {schema}.job_done WHERE id < :after ORDER BY id DESC LIMIT :most))
               AS looked_at
       ORDER BY id DESC
      OFFSET :most - 1
       LIMIT 1
      """;

  private static final String PAGE =
      """
      SELECT job_all.*, queue.defaults
        FROM {schema}.job_all
        LEFT JOIN {schema}.queue ON queue.name = job_all.queue
       WHERE job_all.id < :after
         AND job_all.id >= :reach
         AND (:any_state OR job_all.state = ANY (:states))
         AND (:queue::text IS NULL OR job_all.queue = :queue)
         AND (:kind::text IS NULL OR job_all.kind = :kind)
         AND (:target::text IS NULL OR job_all.target = :target)
         AND (:resource::text IS NULL OR :resource = ANY (job_all.resources))
         AND (:tag::text IS NULL OR :tag = ANY (job_all.tags))
         AND (:worker::text IS NULL OR job_all.worker = :worker)
         AND (:error::text IS NULL
              OR lower(job_all.error_code) = lower(:error)
              OR position(lower(:error) IN lower(coalesce(job_all.error_message, ''))) > 0)
       ORDER BY job_all.id DESC
       LIMIT :limit
      """;

  private final Db db;
  private final String reach;
  private final String page;

  JobList(Db db) {
    this.db = db;
    this.reach = db.sql(REACH);
    this.page = db.sql(PAGE);
  }

  JobPage page(JobFilter filter, Optional<UUID> after, int limit) {
    Limits.page("limit", limit);
    UUID from = after.orElse(LAST);
    // In a transaction, whose settings make the planner use indexes; in two statements, so that the
    // planner knows the bound of the second.
    return db.inTransaction(handle -> {
      Optional<UUID> reached = reach(handle, from);
      Query query =
          handle
              .createQuery(page)
              .bind("after", from)
              .bind("reach", reached.orElse(FIRST))
              .bind("any_state", filter.states().isEmpty())
              .bindArray(
                  "states", String.class, filter.states().stream().map(JobState::stored).toArray())
              .bind("queue", Columns.orNull(filter.queue()))
              .bind("kind", Columns.orNull(filter.kind()))
              .bind("target", Columns.orNull(filter.target()))
              .bind("resource", Columns.orNull(filter.resource()))
              .bind("tag", Columns.orNull(filter.tag()))
              .bind("worker", Columns.orNull(filter.worker()))
              .bind("error", Columns.orNull(filter.errorText()))
              .bind("limit", limit);
      Portion<Job> found = Portion.of(query, limit, JobMapper.JOB, JobMapper::weight);
      return new JobPage(
          found.rows(), found.more() ? Optional.of(found.rows().getLast().id()) : reached);
    });
  }

  private Optional<UUID> reach(Handle handle, UUID from) {
    return handle
        .createQuery(reach)
        .bind("after", from)
        .bind("most", MOST_LOOKED_AT)
        .mapTo(UUID.class)
        .findOne();
  }
}
