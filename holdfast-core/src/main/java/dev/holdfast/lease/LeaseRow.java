package dev.holdfast.lease;

import dev.holdfast.codec.PolicyJson;
import dev.holdfast.job.Attempt;
import dev.holdfast.job.Payload;
import dev.holdfast.job.Policy;
import dev.holdfast.tenant.Columns;
import dev.holdfast.tenant.Tenant;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.UUID;
import org.jdbi.v3.core.mapper.RowMapper;
import org.jdbi.v3.core.statement.StatementContext;

/** A leased job's row as a {@link Lease}: the claim and the reaper read the same columns. */
record LeaseRow(String tenant, PolicyJson policies) implements RowMapper<Lease> {

  static LeaseRow of(Tenant tenant) {
    return new LeaseRow(tenant.name().value(), new PolicyJson());
  }

  @Override
  public Lease map(ResultSet row, StatementContext context) throws SQLException {
    Policy policy = policies.resolve(row.getString("defaults"), row.getString("policy"));
    return new Lease(
        new LeaseKey(tenant, row.getObject("id", UUID.class), row.getLong("fence")),
        row.getString("worker"),
        row.getString("kind"),
        row.getString("queue"),
        new Payload(row.getString("args")),
        new Attempt(row.getInt("attempt"), row.getInt("failures"), row.getInt("granted")),
        policy,
        Columns.needs(row),
        Columns.progress(row),
        Columns.instant(row, "run_at"),
        policy.leaseLength(),
        Columns.instant(row, "lease_expires_at"));
  }
}
