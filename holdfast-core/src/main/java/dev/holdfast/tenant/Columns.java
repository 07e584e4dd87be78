package dev.holdfast.tenant;

import dev.holdfast.job.Progress;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;

/** Reads columns that several row mappers share; here SQL NULL becomes Optional. */
public final class Columns {

  private Columns() {}

  public static Instant instant(ResultSet row, String column) throws SQLException {
    return row.getObject(column, OffsetDateTime.class).toInstant();
  }

  public static Optional<Instant> optionalInstant(ResultSet row, String column)
      throws SQLException {
    return Optional.ofNullable(row.getObject(column, OffsetDateTime.class))
        .map(OffsetDateTime::toInstant);
  }

  public static Optional<String> optionalText(ResultSet row, String column) throws SQLException {
    return Optional.ofNullable(row.getString(column));
  }

  public static Progress progress(ResultSet row) throws SQLException {
    // Most jobs never report any, and this runs for every job claimed.
    if (row.getObject("progress_at") == null) {
      return Progress.NONE;
    }
    return new Progress(
        optionalText(row, "cursor"),
        optionalLong(row, "progress_count"),
        optionalLong(row, "result_count"),
        optionalDouble(row, "percent"),
        optionalText(row, "message"));
  }

  private static OptionalLong optionalLong(ResultSet row, String column) throws SQLException {
    long value = row.getLong(column);
    return row.wasNull() ? OptionalLong.empty() : OptionalLong.of(value);
  }

  private static OptionalDouble optionalDouble(ResultSet row, String column) throws SQLException {
    double value = row.getDouble(column);
    return row.wasNull() ? OptionalDouble.empty() : OptionalDouble.of(value);
  }
}
