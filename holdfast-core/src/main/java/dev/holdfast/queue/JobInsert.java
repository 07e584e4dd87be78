package dev.holdfast.queue;

import dev.holdfast.tenant.Db;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Types;
import java.util.List;
import java.util.OptionalInt;

/**
 * The one statement that stores a job. Plain JDBC, unlike the rest: it is what an application's own
 * request waits for, and JDBI would double the time it takes in the client.
 */
final class JobInsert {

  // The lane is looked up by what it is, in the same statement: nothing is remembered here that
  // another process could have made stale. Without a lane nothing is inserted.
  private static final String INSERT =
      """
      INSERT INTO {schema}.job
             (id, state, run_at, created_at, args, policy, tags, unique_scope, unique_key, lane)
      SELECT :id, :state,
             coalesce(:run_at, {schema}.clock() + :delay_ms * interval '1 millisecond'),
             {schema}.clock(), :args::json, :policy::json, :tags, :unique_scope, :unique_key,
             found.lane
        FROM (SELECT coalesce(:lane, (
               SELECT lane.id
                 FROM {schema}.lane
                WHERE queue = :queue AND kind = :kind AND priority = :priority
                  AND host = :host AND host_required = :host_required AND labels = :labels
             ))) AS found (lane)
       WHERE found.lane IS NOT NULL
      """;

  private final String insert;
  private final String insertIfAbsent;

  JobInsert(Db db) {
    // Names for the reader; JDBC wants places, in the order in which run() binds them.
    this.insert = db.sql(INSERT).replaceAll("(?<!:):[a-z_]+", "?");
    this.insertIfAbsent = insert + "ON CONFLICT DO NOTHING";
  }

  /** For a job that cannot be there yet; false when its lane is missing. */
  boolean insert(Connection connection, JobRow row) throws SQLException {
    return run(connection, insert, row, OptionalInt.empty());
  }

  /** False when the id or the unique key is there already, or the lane is missing. */
  boolean insertIfAbsent(Connection connection, JobRow row, OptionalInt lane) throws SQLException {
    return run(connection, insertIfAbsent, row, lane);
  }

  private static boolean run(Connection connection, String sql, JobRow row, OptionalInt lane)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setObject(1, row.id());
      statement.setString(2, row.state());
      statement.setObject(3, row.runAt(), Types.TIMESTAMP_WITH_TIMEZONE);
      statement.setLong(4, row.delay().toMillis());
      statement.setString(5, row.args());
      statement.setString(6, row.policy());
      statement.setArray(7, row.tags() == null ? null : textArray(connection, row.tags()));
      statement.setString(8, row.uniqueScope());
      statement.setString(9, row.uniqueKey());
      if (lane.isPresent()) {
        statement.setInt(10, lane.getAsInt());
      } else {
        statement.setNull(10, Types.INTEGER);
      }
      statement.setString(11, row.lane().queue());
      statement.setString(12, row.lane().kind());
      statement.setInt(13, row.lane().priority());
      statement.setString(14, row.lane().host());
      statement.setBoolean(15, row.lane().hostRequired());
      statement.setArray(16, textArray(connection, row.lane().labels()));
      return statement.executeUpdate() == 1;
    }
  }

  private static Array textArray(Connection connection, List<String> values) throws SQLException {
    return connection.createArrayOf("text", values.toArray());
  }
}
