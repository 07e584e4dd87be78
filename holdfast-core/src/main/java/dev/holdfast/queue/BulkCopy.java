package dev.holdfast.queue;

import dev.holdfast.tenant.Columns;
import dev.holdfast.tenant.Db;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyIn;
import org.postgresql.copy.CopyManager;

/**
 * Writes many new jobs by COPY, several times faster than inserts. Only for jobs with ids of our
 * own making and without unique keys, because COPY cannot step over a row that is there already.
 */
final class BulkCopy {

  private static final int CHUNK_ROWS = 5_000;

  private static final String NOW =
      """
      SELECT {schema}.clock() AS now
      """;

  private static final String COPY =
      """
      COPY {schema}.job (id, lane, state, run_at, created_at, args, policy, tags) FROM STDIN
      """;

  private final Lanes lanes;
  private final String now;
  private final String copy;

  BulkCopy(Db db, Lanes lanes) {
    this.lanes = lanes;
    this.now = db.sql(NOW);
    this.copy = db.sql(COPY);
  }

  void write(Connection connection, List<JobRow> rows) throws SQLException {
    if (rows.isEmpty()) {
      return;
    }
    Instant at = now(connection);
    CopyManager copier = connection.unwrap(PGConnection.class).getCopyAPI();
    for (int from = 0; from < rows.size(); from += CHUNK_ROWS) {
      List<JobRow> chunk = rows.subList(from, Math.min(from + CHUNK_ROWS, rows.size()));
      byte[] text = lines(chunk, at).getBytes(StandardCharsets.UTF_8);
      CopyIn out = copier.copyIn(copy);
      out.writeToCopy(text, 0, text.length);
      out.endCopy();
    }
  }

  private Instant now(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(now)) {
      row.next();
      return Columns.instant(row, "now");
    }
  }

  private String lines(List<JobRow> rows, Instant now) {
    StringBuilder text = new StringBuilder(rows.size() * 200);
    for (JobRow row : rows) {
      Object runAt = row.runAt() == null ? now.plus(row.delay()) : row.runAt();
      text.append(row.id()).append('\t');
      text.append(lanes.idOf(row.lane())).append('\t');
      text.append(row.state()).append('\t');
      text.append(runAt).append('\t');
      text.append(now).append('\t');
      escape(text, row.args()).append('\t');
      escape(text, row.policy()).append('\t');
      escape(text, row.tags() == null ? null : arrayLiteral(row.tags())).append('\n');
    }
    return text.toString();
  }

  private static StringBuilder escape(StringBuilder text, @Nullable String value) {
    if (value == null) {
      return text.append("\\N");
    }
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      switch (c) {
        case '\\' -> text.append("\\\\");
        case '\t' -> text.append("\\t");
        case '\n' -> text.append("\\n");
        case '\r' -> text.append("\\r");
        default -> text.append(c);
      }
    }
    return text;
  }

  private static String arrayLiteral(List<String> values) {
    StringBuilder literal = new StringBuilder("{");
    for (String value : values) {
      literal.append(literal.length() > 1 ? "," : "");
      literal.append('"').append(value.replace("\\", "\\\\").replace("\"", "\\\"")).append('"');
    }
    return literal.append('}').toString();
  }
}
