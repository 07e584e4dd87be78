package dev.holdfast.queue;

import dev.holdfast.tenant.Db;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Types;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;

/**
 * The one statement that stores a job. Plain JDBC, unlike the rest: it is what an application's own
 * request waits for, and JDBI would double the time it takes in the client.
 */
final class JobInsert {

  // Most jobs are due now and in no way special. Everything that need not be sent is time saved.
  private static final String INSERT_PLAIN =
      """
      INSERT INTO {schema}.job (id, lane, args) VALUES (:id, :lane, :args::json)
      """;

  private static final String INSERT_SEVERAL =
      """
      INSERT INTO {schema}.job (id, lane, args)
      SELECT id, lane, args::json
        FROM unnest(:ids::uuid[], :lanes::bigint[], :args::text[]) AS new (id, lane, args)
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

  private final String insertPlain;
  private final String insertSeveral;
  private final String insert;
  private final String insertIfAbsent;

  JobInsert(Db db) {
    // Names for the reader; JDBC wants places, in the order in which run() binds them.
    this.insertPlain = withPlaces(db.sql(INSERT_PLAIN));
    this.insertSeveral = withPlaces(db.sql(INSERT_SEVERAL));
    this.insert = withPlaces(db.sql(INSERT));
    this.insertIfAbsent = insert + "ON CONFLICT DO NOTHING";
  }

  private static String withPlaces(String sql) {
    return sql.replaceAll("(?<!:):[a-z_]+", "?");
  }

  /** For a job that cannot be there yet. */
  void insert(Connection connection, JobRow row, long lane) throws SQLException {
    if (row.isPlain()) {
      insertPlain(connection, row, lane);
    } else {
      run(connection, insert, row, lane);
    }
  }

  private void insertPlain(Connection connection, JobRow row, long lane) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(insertPlain)) {
      statement.setObject(1, row.id());
      statement.setLong(2, lane);
      statement.setString(3, row.args());
      statement.executeUpdate();
    }
  }

  /** Plain ones, all or none. */
  void insertPlain(Connection connection, List<JobRow> rows, long[] lanes) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(insertSeveral)) {
      PGConnection arrays = connection.unwrap(PGConnection.class);
      statement.setArray(
          1, connection.createArrayOf("uuid", rows.stream().map(JobRow::id).toArray()));
      statement.setArray(2, arrays.createArrayOf("bigint", lanes));
      statement.setArray(
          3, connection.createArrayOf("text", rows.stream().map(JobRow::args).toArray()));
      statement.executeUpdate();
    }
  }

  /** False when the id or the unique key is there already. */
  boolean insertIfAbsent(Connection connection, JobRow row, long lane) throws SQLException {
    return run(connection, insertIfAbsent, row, lane) == 1;
  }

  private static int run(Connection connection, String sql, JobRow row, long lane)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setObject(1, row.id());
      statement.setLong(2, lane);
      statement.setString(3, row.state());
      statement.setObject(4, row.runAt(), Types.TIMESTAMP_WITH_TIMEZONE);
      statement.setLong(5, row.delay().toMillis());
      statement.setString(6, row.args());
      statement.setString(7, row.policy());
      statement.setArray(8, array(connection, row.tags()));
      statement.setString(9, row.uniqueScope());
      statement.setString(10, row.uniqueKey());
      statement.setArray(11, array(connection, row.resources()));
      statement.setString(12, row.target());
      statement.setString(13, row.subjectType());
      statement.setString(14, row.subjectId());
      statement.setString(15, row.subjectDuring());
      return statement.executeUpdate();
    }
  }

  private static @Nullable Array array(Connection connection, @Nullable List<String> texts)
      throws SQLException {
    return texts == null ? null : connection.createArrayOf("text", texts.toArray());
  }
}
