package dev.holdfast.audit;

import dev.holdfast.tenant.Columns;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;

/** One act: who did what to which job or resource, what it was before and after, and why. */
public record AuditRecord(
    long id,
    Instant at,
    String actor,
    String act,
    Optional<UUID> jobId,
    Optional<String> resource,
    Optional<String> before,
    Optional<String> after,
    Optional<String> reason) {

  static AuditRecord of(ResultSet row) throws SQLException {
    return new AuditRecord(
        row.getLong("id"),
        Columns.instant(row, "at"),
        row.getString("actor"),
        row.getString("act"),
        Optional.ofNullable(row.getObject("job_id", UUID.class)),
        Columns.optionalText(row, "resource"),
        Columns.optionalText(row, "before"),
        Columns.optionalText(row, "after"),
        Columns.optionalText(row, "reason"));
  }
}
