package dev.holdfast.lease;

import dev.holdfast.codec.PolicyJson;
import dev.holdfast.job.Attempt;
import dev.holdfast.job.Needs;
import dev.holdfast.job.Payload;
import dev.holdfast.job.Policy;
import dev.holdfast.job.SlotKey;
import dev.holdfast.tenant.Columns;
import dev.holdfast.tenant.Tenant;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.UUID;
import org.jdbi.v3.core.mapper.RowMapper;
import org.jdbi.v3.core.statement.StatementContext;

/** Reads a leased job's row as a {@link Lease}; claims and the reaper read the same columns. */
public record LeaseRow(String tenant, PolicyJson policies) implements RowMapper<Lease> {

  /** The columns of job. Statements add the lane's queue and kind, and the queue's defaults. */
  public static final String COLUMNS =
      """
      job.id, job.fence, job.worker, job.args, job.attempt, job.failures, job.granted, job.policy,
      job.run_at, job.lease_expires_at, job.lease_ms, job.resources, job.target, job.subject_type,
      job.subject_id, job.subject_during, job.cursor, job.progress_count, job.result_count,
      job.percent, job.message, job.progress_at,
      CASE WHEN job.unique_scope = 'slot' THEN job.unique_key END AS slot\
      """;

  public static LeaseRow of(Tenant tenant) {
    return new LeaseRow(tenant.name().value(), new PolicyJson());
  }

  @Override
  public Lease map(ResultSet row, StatementContext context) throws SQLException {
    return read(row);
  }

  Lease read(ResultSet row) throws SQLException {
    Needs needs = Columns.needs(row);
    Policy policy = policies.resolve(row.getString("defaults"), row.getString("policy"));
    return new Lease(
        new LeaseKey(tenant, row.getObject("id", UUID.class), row.getLong("fence")),
        row.getString("worker"),
        row.getString("kind"),
        row.getString("queue"),
        new Payload(row.getString("args")),
        new Attempt(row.getInt("attempt"), row.getInt("failures"), row.getInt("granted")),
        policy,
        needs,
        Columns.progress(row),
        Columns.instant(row, "run_at"),
        // Empty in leases that an earlier version granted by the policy.
        Columns.optionalMillis(row, "lease_ms").orElse(policy.leaseLength()),
        Columns.instant(row, "lease_expires_at"),
        SlotKey.of(row.getString("slot")));
  }
}
