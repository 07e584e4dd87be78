package dev.holdfast.tenant;

import dev.holdfast.job.Needs;
import dev.holdfast.job.Progress;
import dev.holdfast.job.Subject;
import java.sql.Array;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** Reads columns that several row mappers share; here SQL NULL becomes Optional. */
public final class Columns {

  /**
   * The columns that move with a job to {@code job_done} when it finishes, and back when it is
   * revived.
   */
  public static final String CARRIED =
      """
      id, seq, fence, created_at, started_at, lane, attempt, args, policy, tags, unique_scope,
      unique_key, resources, target, subject_type, subject_id, subject_during, cursor,
      progress_count, result_count, percent, message, progress_at, input_tokens, output_tokens\
      """;

  private Columns() {}

  public static Instant instant(ResultSet row, String column) throws SQLException {
    return row.getObject(column, OffsetDateTime.class).toInstant();
  }

  public static Optional<Instant> optionalInstant(ResultSet row, String column)
      throws SQLException {
    return Optional.ofNullable(row.getObject(column, OffsetDateTime.class))
        .map(OffsetDateTime::toInstant);
  }

  /**
   * A waiting time in milliseconds: zero if it is over already, empty for NULL. Not cut off by
   * greatest() in SQL, because that returns 0 for NULL.
   */
  public static Optional<Duration> optionalWait(ResultSet row, String column) throws SQLException {
    return Optional.ofNullable(row.getBigDecimal(column))
        .map(millis -> Duration.ofMillis(Math.max(0, millis.longValue())));
  }

  /** A duration in milliseconds; empty for NULL. */
  public static Optional<Duration> optionalMillis(ResultSet row, String column)
      throws SQLException {
    long millis = row.getLong(column);
    return row.wasNull() ? Optional.empty() : Optional.of(Duration.ofMillis(millis));
  }

  public static Optional<String> optionalText(ResultSet row, String column) throws SQLException {
    return Optional.ofNullable(row.getString(column));
  }

  /** For binding: an empty Optional as SQL's NULL. */
  public static <T> @Nullable T orNull(Optional<T> value) {
    return value.orElse(null);
  }

  public static Progress progress(ResultSet row) throws SQLException {
    // Most jobs never report progress, and this runs for every job claimed.
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

  public static Needs needs(ResultSet row) throws SQLException {
    List<String> resources = texts(row, "resources");
    Optional<String> subjectType = optionalText(row, "subject_type");
    if (resources.isEmpty() && subjectType.isEmpty()) {
      return Needs.NOTHING;
    }
    String subjectId = row.getString("subject_id");
    Optional<String> during = optionalText(row, "subject_during");
    return new Needs(
        resources,
        optionalText(row, "target"),
        subjectType.map(type -> new Subject(type, subjectId, during)));
  }

  /** An array of text; empty when it is NULL. */
  public static List<String> texts(ResultSet row, String column) throws SQLException {
    Array array = row.getArray(column);
    return array == null ? List.of() : List.of((String[]) array.getArray());
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
