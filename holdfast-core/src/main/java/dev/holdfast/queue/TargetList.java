package dev.holdfast.queue;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.JobIds;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Limits;
import dev.holdfast.tenant.Columns;
import dev.holdfast.tenant.Db;
import java.util.Arrays;
import java.util.UUID;
import org.jdbi.v3.core.statement.Query;

/**
 * Lists jobs that have a target, newest first, by offset and with their number. Jobs must be read
 * to be counted, so a page looks at a limited number: the newest of one target, or else of all.
 */
final class TargetList {

  static final int MOST_LOOKED_AT = 20_000;

  private static final String MATCHING =
      """
      matching AS MATERIALIZED (
        SELECT id, seq
          FROM looked_at
         WHERE (:any_state OR state = ANY (:states))
           AND (:queue::text IS NULL OR queue = :queue)
           AND (:kind::text IS NULL OR kind = :kind)
      )
      SELECT (SELECT count(*) FROM matching) AS total,
             ARRAY (SELECT id FROM matching ORDER BY seq DESC OFFSET :offset LIMIT :limit) AS ids\
      """;

  private static final String OF_ONE =
      """
      WITH newest AS MATERIALIZED (
        (SELECT id, seq, state, lane
           FROM {schema}.job
          WHERE target = :target
          ORDER BY seq DESC
          LIMIT :most)
        UNION ALL
        (SELECT id, seq, state, lane
           FROM {schema}.job_done
          WHERE target = :target
          ORDER BY seq DESC
          LIMIT :most)
        ORDER BY seq DESC
        LIMIT :most
      ), looked_at AS (
        SELECT newest.id, newest.seq, newest.state, lane.queue, lane.kind
          FROM newest
          JOIN {schema}.lane ON lane.id = newest.lane
      ), {matching}
      """
          .replace("{matching}", MATCHING);

  // The newest by their ids, which begin with their time. An index of its own would slow down the
  // writes of all jobs on targets. Ids from the future are others': those of agents' jobs, and of
  // clients that make random ones. They are many times as many as their age would have it, so they
  // are looked at apart.
  private static final String OF_ALL =
      """
      WITH newest AS MATERIALIZED (
        (SELECT id, seq, state, lane, target
           FROM {schema}.job
          WHERE id < :future
          ORDER BY id DESC
          LIMIT :most)
        UNION ALL
        (SELECT id, seq, state, lane, target
           FROM {schema}.job_done
          WHERE id < :future
          ORDER BY id DESC
          LIMIT :most)
        ORDER BY id DESC
        LIMIT :most
      ), others AS MATERIALIZED (
        (SELECT id, seq, state, lane, target
           FROM {schema}.job
          WHERE id >= :future
          ORDER BY id DESC
          LIMIT :most)
        UNION ALL
        (SELECT id, seq, state, lane, target
           FROM {schema}.job_done
          WHERE id >= :future
          ORDER BY id DESC
          LIMIT :most)
        LIMIT :most
      ), looked_at AS (
        SELECT each.id, each.seq, each.state, lane.queue, lane.kind
          FROM (SELECT * FROM newest UNION ALL SELECT * FROM others) AS each
          JOIN {schema}.lane ON lane.id = each.lane
         WHERE each.target IS NOT NULL
      ), {matching}
      """
          .replace("{matching}", MATCHING);

  private final Db db;
  private final String ofOne;
  private final String ofAll;

  TargetList(Db db) {
    this.db = db;
    this.ofOne = db.sql(OF_ONE);
    this.ofAll = db.sql(OF_ALL);
  }

  /** Applies the filter's states, queue, kind and target, and nothing else of it. */
  CountedJobs page(JobFilter filter, int offset, int limit) {
    Limits.page("limit", limit);
    if (offset < 0) {
      throw HoldfastException.invalid("offset", offset, "0 or more");
    }
    // In a transaction, whose settings make the planner use indexes.
    return db.inTransaction(handle -> {
      Query query =
          filter
              .target()
              .map(target -> handle.createQuery(ofOne).bind("target", target))
              .orElseGet(() -> handle.createQuery(ofAll).bind("future", JobIds.firstOfTheFuture()));
      return query
          .bind("most", MOST_LOOKED_AT)
          .bind("any_state", filter.states().isEmpty())
          .bindArray(
              "states", String.class, filter.states().stream().map(JobState::stored).toArray())
          .bind("queue", Columns.orNull(filter.queue()))
          .bind("kind", Columns.orNull(filter.kind()))
          .bind("offset", offset)
          .bind("limit", limit)
          .map((row, context) ->
              new CountedJobs(
                  Arrays.stream((Object[]) row.getArray("ids").getArray())
                      .map(UUID.class::cast)
                      .toList(),
                  row.getLong("total")))
          .one();
    });
  }
}
