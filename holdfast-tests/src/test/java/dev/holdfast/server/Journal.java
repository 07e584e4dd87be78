package dev.holdfast.server;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;

/**
 * Whatever is stored in a database's tables, row by row, as the database itself writes it down:
 * every insert, update and delete that was committed, whoever did it and by whatever statement. Not
 * thread-safe.
 */
final class Journal {

  private static final int MOST_CHARS = 200;

  private final DataSource database;
  private long last;

  private Journal(DataSource database) {
    this.database = database;
  }

  /** Watches all tables that there are by now, of the control schema and of every tenant. */
  static Journal of(DataSource database) throws SQLException {
    try (Connection connection = database.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE SCHEMA journal");
      statement.execute(
          "CREATE TABLE journal.line (n bigserial PRIMARY KEY, what text, place text, content"
              + " text)");
      statement.execute(
          """
          CREATE FUNCTION journal.note() RETURNS trigger LANGUAGE plpgsql AS $$
          BEGIN
            INSERT INTO journal.line (what, place, content)
            VALUES (TG_OP, TG_TABLE_SCHEMA || '.' || TG_TABLE_NAME,
                    CASE TG_OP WHEN 'DELETE' THEN OLD::text ELSE NEW::text END);
            RETURN NULL;
          END $$
          """);
      statement.execute(
          """
          DO $$
          DECLARE place regclass;
          BEGIN
            FOR place IN
              SELECT c.oid FROM pg_class c JOIN pg_namespace s ON s.oid = c.relnamespace
               WHERE s.nspname ~ '^holdfast(_|$)' AND c.relkind IN ('r', 'p')
                 AND NOT c.relispartition
            LOOP
              EXECUTE format('CREATE TRIGGER journal AFTER INSERT OR UPDATE OR DELETE ON %s'
                             ' FOR EACH ROW EXECUTE FUNCTION journal.note()', place);
            END LOOP;
          END $$
          """);
    }
    return new Journal(database);
  }

  /** What was stored since this was asked last, one line each: what was done, where, the row. */
  List<String> next() throws SQLException {
    try (Connection connection = database.getConnection();
        PreparedStatement statement =
            connection.prepareStatement(
                "SELECT n, what, place, content FROM journal.line WHERE n > ? ORDER BY n")) {
      statement.setLong(1, last);
      List<String> lines = new ArrayList<>();
      try (ResultSet row = statement.executeQuery()) {
        while (row.next()) {
          last = row.getLong(1);
          String content = row.getString(4);
          lines.add(
              "%s %s %s"
                  .formatted(
                      row.getString(2),
                      row.getString(3),
                      content.substring(0, Math.min(content.length(), MOST_CHARS))));
        }
      }
      return lines;
    }
  }
}
