package dev.holdfast.doctor;

import dev.holdfast.tenant.Db;
import dev.holdfast.tenant.SqlErrors;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * Checks that a connection stays with one process of the server. With a pooler in transaction mode,
 * a second connection gets the first one's process, or the first one gets another process than
 * before while the second has its own in use.
 */
final class PoolerCheck implements Check {

  private static final String WHO =
      """
      SELECT pg_backend_pid()
      """;

  private final Db db;

  PoolerCheck(Db db) {
    this.db = db;
  }

  @Override
  public String name() {
    return "pooling";
  }

  @Override
  public Finding look() {
    try {
      return db.withConnection(first -> db.withConnection(second -> areShared(first, second)))
          ? Finding.warn(
              this,
              "connections are shared between transactions, as by PgBouncer in transaction mode:"
                  + " notifications do not arrive, jobs are found by polling",
              "give Holdfast a direct address, or a pool in session mode")
          : Finding.ok(this, "a connection stays with its process");
    } catch (SQLException e) {
      throw SqlErrors.translated("looking at connections", e);
    }
  }

  private static boolean areShared(Connection first, Connection second) throws SQLException {
    int own = process(first);
    second.setAutoCommit(false);
    boolean areShared = process(second) == own || process(first) != own;
    second.rollback();
    second.setAutoCommit(true);
    return areShared;
  }

  private static int process(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet answer = statement.executeQuery(WHO)) {
      answer.next();
      return answer.getInt(1);
    }
  }
}
