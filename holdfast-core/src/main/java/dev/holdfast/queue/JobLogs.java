package dev.holdfast.queue;

import dev.holdfast.job.Limits;
import dev.holdfast.tenant.Columns;
import dev.holdfast.tenant.Db;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jdbi.v3.core.statement.Query;

/** Reads what the attempts of jobs logged. */
final class JobLogs {

  private static final String ALL =
      """
      SELECT line FROM {schema}.job_log WHERE job_id = :id ORDER BY id
      """;

  // There is no index by offset, because it would slow down whatever logs. Those who follow a log
  // are near its end, and would read all of it each time: so the last lines are looked at first,
  // and the log from its beginning only if these do not reach back to the offset.
  private static final String FROM =
      """
      WITH last AS MATERIALIZED (
        SELECT id, at, fence, line, ends
          FROM {schema}.job_log
         WHERE job_id = :id
         ORDER BY id DESC
         LIMIT :limit
      ), reach AS MATERIALIZED (
        SELECT count(*) < :limit OR min(ends) <= :offset AS is_enough FROM last
      )
      SELECT at, fence, line, ends
        FROM ((SELECT *
                 FROM last
                WHERE (SELECT is_enough FROM reach) AND ends > :offset)
              UNION ALL
              (SELECT id, at, fence, line, ends
                 FROM {schema}.job_log
                WHERE (SELECT NOT is_enough FROM reach) AND job_id = :id AND ends > :offset
                ORDER BY id
                LIMIT :limit)) AS found
       ORDER BY id
      """;

  private static final String TAIL =
      """
      SELECT id, at, fence, line, ends
        FROM (SELECT id, at, fence, line, ends
                FROM {schema}.job_log
               WHERE job_id = :id
               ORDER BY id DESC
               LIMIT :limit) AS last
       ORDER BY id
      """;

  private final Db db;
  private final String all;
  private final String from;
  private final String tail;

  JobLogs(Db db) {
    this.db = db;
    this.all = db.sql(ALL);
    this.from = db.sql(FROM);
    this.tail = db.sql(TAIL);
  }

  /** All of it, oldest first. */
  List<String> all(UUID id) {
    return db.withHandle(
        handle -> handle.createQuery(all).bind("id", id).mapTo(String.class).list());
  }

  /**
   * The lines from an offset on.
   *
   * @param offset in bytes: 0, or the offset of the chunk before
   * @param limit the largest number of lines
   */
  LogChunk from(UUID id, long offset, int limit) {
    Limits.page("limit", limit);
    return db.withHandle(handle ->
        chunk(handle.createQuery(from).bind("id", id).bind("offset", offset), offset, limit));
  }

  /** The last lines, oldest first. */
  LogChunk tail(UUID id, int limit) {
    Limits.page("limit", limit);
    return db.withHandle(handle -> chunk(handle.createQuery(tail).bind("id", id), 0, limit));
  }

  private static LogChunk chunk(Query query, long offset, int limit) {
    List<LogChunk.Line> lines = new ArrayList<>();
    long ends =
        query
            .bind("limit", limit)
            .reduceRows(
                offset,
                (before, row) -> {
                  lines.add(
                      new LogChunk.Line(
                          row.getColumn("at", Instant.class),
                          row.getColumn("fence", Long.class),
                          row.getColumn("line", String.class)));
                  return row.getColumn("ends", Long.class);
                });
    return new LogChunk(lines, ends);
  }

  /** The last lines with their numbers, oldest first. */
  List<LogEntry> entries(UUID id, int limit) {
    Limits.page("limit", limit);
    return db.withHandle(handle ->
        handle
            .createQuery(tail)
            .bind("id", id)
            .bind("limit", limit)
            .map((row, context) ->
                new LogEntry(row.getLong("id"), Columns.instant(row, "at"), row.getString("line")))
            .list());
  }
}
