package dev.holdfast.lease;

import dev.holdfast.lease.Extension.Status;
import dev.holdfast.tenant.Db;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jdbi.v3.core.Jdbi;

/** Renews leases: one statement for all of a length, and a worker's leases mostly have one. */
final class Beats {

  // SKIP LOCKED, so that one row held by a handler's own transaction cannot starve the other
  // leases.
  // Such a row is told from a lost one by looking without a lock. Only unindexed columns change, so
  // the rows are updated in place (HOT).
  private static final String EXTEND =
      """
      WITH asked AS MATERIALIZED (
        SELECT job_id, fence
          FROM unnest((SELECT :job_ids), (SELECT :fences)) AS asked (job_id, fence)
      ), mine AS MATERIALIZED (
        SELECT job.id
          FROM asked
          JOIN {schema}.job ON job.id = asked.job_id AND job.fence = asked.fence
         WHERE job.state IN ('dispatched', 'running', 'stopping')
           FOR UPDATE OF job SKIP LOCKED
      ), extended AS (
        UPDATE {schema}.job
           SET lease_expires_at = {schema}.clock() + :lease_ms * interval '1 millisecond'
         WHERE id = ANY (ARRAY (SELECT id FROM mine))
        RETURNING id, fence, state
      )
      SELECT asked.job_id, asked.fence,
             CASE WHEN extended.state = 'stopping' THEN 'STOP_REQUESTED'
                  WHEN extended.id IS NOT NULL THEN 'EXTENDED'
                  WHEN EXISTS (SELECT FROM {schema}.job
                                WHERE job.id = asked.job_id AND job.fence = asked.fence
                                  AND job.state IN ('dispatched', 'running', 'stopping'))
                  THEN 'BUSY'
                  ELSE 'LOST'
              END AS status
        FROM asked
        LEFT JOIN extended ON extended.id = asked.job_id AND extended.fence = asked.fence
      """;

  private final Jdbi jdbi;
  private final String extend;

  Beats(Db db) {
    this.jdbi = db.jdbi();
    this.extend = db.sql(EXTEND);
  }

  List<Extension> extend(List<Lease> leases) {
    Map<LeaseKey, Status> statuses = new HashMap<>();
    leases.stream()
        .collect(Collectors.groupingBy(Lease::length))
        .forEach((length, ofLength) -> statuses.putAll(extend(length, ofLength)));
    return leases.stream()
        .map(lease -> new Extension(lease.key(), statuses.getOrDefault(lease.key(), Status.LOST)))
        .toList();
  }

  private Map<LeaseKey, Status> extend(Duration length, List<Lease> leases) {
    String tenant = leases.getFirst().key().tenant();
    return jdbi.withHandle(handle ->
        handle
            .createQuery(extend)
            .bindArray(
                "job_ids", UUID.class, leases.stream().map(lease -> lease.key().jobId()).iterator())
            .bindArray(
                "fences", Long.class, leases.stream().map(lease -> lease.key().fence()).iterator())
            .bind("lease_ms", length.toMillis())
            .reduceRows(
                new HashMap<>(),
                (statuses, row) -> {
                  statuses.put(
                      new LeaseKey(
                          tenant,
                          row.getColumn("job_id", UUID.class),
                          row.getColumn("fence", Long.class)),
                      Status.valueOf(row.getColumn("status", String.class)));
                  return statuses;
                }));
  }
}
