package dev.holdfast.queue;

import dev.holdfast.tenant.Db;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Types;

/**
 * The one statement that stores a job. Plain JDBC, unlike the rest: it is what an application's own
 * request waits for, and JDBI would double the time it takes in the client.
 */
final class JobInsert {

  private static final String INSERT =
      """
      INSERT INTO {schema}.job
             (id, lane, state, run_at, created_at, args, policy, tags, unique_scope, unique_key)
      VALUES (:id, :lane, :state,
              coalesce(:run_at, {schema}.clock() + :delay_ms * interval '1 millisecond'),
              {schema}.clock(), :args::json, :policy::json, :tags, :unique_scope, :unique_key)
      """;

  private final String insert;
  private final String insertIfAbsent;

  JobInsert(Db db) {
    // Names for the reader; JDBC wants places, in the order in which run() binds them.
    this.insert = db.sql(INSERT).replaceAll("(?<!:):[a-z_]+", "?");
    this.insertIfAbsent = insert + "ON CONFLICT DO NOTHING";
  }

  /** For a job that cannot be there yet. */
  void insert(Connection connection, JobRow row, long lane) throws SQLException {
    run(connection, insert, row, lane);
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
      statement.setArray(
          8, row.tags() == null ? null : connection.createArrayOf("text", row.tags().toArray()));
      statement.setString(9, row.uniqueScope());
      statement.setString(10, row.uniqueKey());
      return statement.executeUpdate();
    }
  }
}
