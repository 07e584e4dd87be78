package dev.holdfast.queue;

import dev.holdfast.tenant.Db;
import dev.holdfast.tenant.Prepared;
import dev.holdfast.tenant.Prepared.Values;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.UUID;

/**
 * The statements that store jobs. Unlike others they bypass JDBI, because an application's own
 * requests wait for them and JDBI would double the time they take in the client.
 */
final class JobInsert {

  // For plain jobs, which most are: every value that need not be sent saves time.
  private static final String INSERT_PLAIN =
      """
      INSERT INTO {schema}.job (id, lane, args) VALUES (:id, :lane, :args::json)
      """;

  // If the client neither commits nor rolls back, the server soon ends the transaction.
  private static final String INSERT_SEVERAL =
      """
      INSERT INTO {schema}.job (id, lane, args)
      SELECT id, lane, args::json
        FROM unnest(:ids::uuid[], :lanes::bigint[], :args::text[]) AS new (id, lane, args)
       CROSS JOIN (SELECT set_config('idle_in_transaction_session_timeout', :silence_ms, true))
             AS settings
      """;

  private static final String INSERT =
      """
      INSERT INTO {schema}.job
             (id, lane, state, run_at, created_at, args, policy, tags, unique_scope, unique_key,
              resources, target, subject_type, subject_id, subject_during)
      VALUES (:id, :lane, :state,
              coalesce(:run_at, {schema}.clock() + :delay_ms * interval '1 millisecond'),
              {schema}.clock(), :args::json, :policy::json, :tags, :unique_scope, :unique_key,
              :resources, :target, :subject_type, :subject_id, :subject_during)
      """;

  private static final String LONGEST_SILENCE = Long.toString(Db.LONGEST_SILENCE.toMillis());

  private final Prepared insertPlain;
  private final Prepared insertSeveral;
  private final Prepared insert;
  private final Prepared insertIfAbsent;

  JobInsert(Db db) {
    this.insertPlain = db.prepared(INSERT_PLAIN);
    this.insertSeveral = db.prepared(INSERT_SEVERAL);
    this.insert = db.prepared(INSERT);
    this.insertIfAbsent = db.prepared(INSERT + "ON CONFLICT DO NOTHING");
  }

  /** For a job that cannot exist yet. */
  void insert(Connection connection, JobRow row, long lane) throws SQLException {
    if (row.isPlain()) {
      insertPlain.update(
          connection,
          values -> values.set("id", row.id()).set("lane", lane).set("args", row.args()));
    } else {
      insert.update(connection, values -> bind(values, row, lane));
    }
  }

  /** Inserts plain jobs, all or none. Must be called in a transaction. */
  void insertPlain(Connection connection, List<JobRow> rows, long[] lanes) throws SQLException {
    insertSeveral.update(
        connection,
        values ->
            values
                .ids("ids", rows.stream().map(JobRow::id).toArray(UUID[]::new))
                .numbers("lanes", lanes)
                .texts("args", rows.stream().map(JobRow::args).toList())
                .set("silence_ms", LONGEST_SILENCE));
  }

  /** Returns false when a job with the id or the unique key exists already. */
  boolean insertIfAbsent(Connection connection, JobRow row, long lane) throws SQLException {
    return insertIfAbsent.update(connection, values -> bind(values, row, lane)) == 1;
  }

  private static void bind(Values values, JobRow row, long lane) throws SQLException {
    values
        .set("id", row.id())
        .set("lane", lane)
        .set("state", row.state())
        .set("run_at", row.runAt())
        .set("delay_ms", row.delay().toMillis())
        .set("args", row.args())
        .set("policy", row.policy())
        .texts("tags", row.tags())
        .set("unique_scope", row.uniqueScope())
        .set("unique_key", row.uniqueKey())
        .texts("resources", row.resources())
        .set("target", row.target())
        .set("subject_type", row.subjectType())
        .set("subject_id", row.subjectId())
        .set("subject_during", row.subjectDuring());
  }
}
