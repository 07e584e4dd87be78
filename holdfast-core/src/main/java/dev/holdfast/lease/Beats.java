package dev.holdfast.lease;

import dev.holdfast.lease.Extension.Status;
import dev.holdfast.tenant.Columns;
import dev.holdfast.tenant.Db;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jdbi.v3.core.statement.Query;

/** Renews leases, one statement per length; a worker's leases mostly have the same length. */
final class Beats {

  // SKIP LOCKED, so that one row held by a handler's own transaction cannot starve the other
  // leases. LATERAL, so that each is looked up by primary key whatever the planner believes. Only
  // unindexed columns change, so the rows are updated in place (HOT).
  private static final String EXTEND =
      """
      WITH mine AS MATERIALIZED (
        SELECT job.id
          FROM unnest((SELECT :job_ids), (SELECT :fences)) AS asked (job_id, fence)
         CROSS JOIN LATERAL (
           SELECT id
             FROM {schema}.job
            WHERE job.id = asked.job_id
              AND job.fence = asked.fence
              AND job.state IN ('dispatched', 'running', 'stopping')
              FOR UPDATE SKIP LOCKED
         ) AS job
      )
      UPDATE {schema}.job
         SET lease_expires_at = {schema}.clock() + :lease_ms * interval '1 millisecond',
             lease_ms = :lease_ms
       WHERE id = ANY (ARRAY (SELECT id FROM mine))
      RETURNING id, fence, CASE state WHEN 'stopping' THEN 'STOP_REQUESTED' ELSE 'EXTENDED' END
                             AS status
      """;

  // A lease that was not renewed: is its row merely locked, or is it gone?
  private static final String STILL_MINE =
      """
      SELECT job.id, job.fence, 'BUSY' AS status
        FROM unnest((SELECT :job_ids), (SELECT :fences)) AS asked (job_id, fence)
       CROSS JOIN LATERAL (
         SELECT id, fence
           FROM {schema}.job
          WHERE job.id = asked.job_id
            AND job.fence = asked.fence
            AND job.state IN ('dispatched', 'running', 'stopping')
         OFFSET 0
       ) AS job
      """;

  // Like EXTEND, for a lease that a report is about to renew: never shortens the lease. Does
  // nothing when a report with this key is stored already.
  private static final String KEEP =
      """
      WITH mine AS MATERIALIZED (
        SELECT id
          FROM {schema}.job
         WHERE id = :job_id
           AND fence = :fence
           AND state IN ('running', 'stopping')
           AND NOT EXISTS (SELECT
                             FROM {schema}.idempotency
                            WHERE idempotency.job_id = :job_id AND idempotency.key = :key)
           FOR UPDATE SKIP LOCKED
      )
      UPDATE {schema}.job
         SET lease_expires_at =
               greatest(lease_expires_at, {schema}.clock() + :lease_ms * interval '1 millisecond')
       WHERE id = (SELECT id FROM mine)
      """;

  // A beat that hangs would hold up all later ones; after this time the next one is tried.
  private static final int TIMEOUT_SECONDS = 5;

  private final Db db;
  private final String extend;
  private final String stillMine;

  Beats(Db db) {
    this.db = db;
    this.extend = db.sql(EXTEND);
    this.stillMine = db.sql(STILL_MINE);
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

  /**
   * Renews a lease ahead of a report that will renew it but may have to wait.
   *
   * @param key the report's idempotency key, if it has one
   */
  void keep(LeaseKey lease, Duration length, Optional<String> key) {
    db.useHandle(handle ->
        handle
            .createUpdate(db.sql(KEEP))
            .bind("job_id", lease.jobId())
            .bind("fence", lease.fence())
            .bind("key", Columns.orNull(key))
            .bind("lease_ms", length.toMillis())
            .setQueryTimeout(TIMEOUT_SECONDS)
            .execute());
  }

  private Map<LeaseKey, Status> extend(Duration length, List<Lease> leases) {
    return db.withHandle(handle -> {
      Query query = handle.createQuery(extend).bind("lease_ms", length.toMillis());
      query.setQueryTimeout(TIMEOUT_SECONDS);
      Map<LeaseKey, Status> statuses = statuses(query, leases);
      List<Lease> others =
          leases.stream().filter(lease -> !statuses.containsKey(lease.key())).toList();
      if (!others.isEmpty()) {
        statuses.putAll(statuses(handle.createQuery(stillMine), others));
      }
      return statuses;
    });
  }

  private static Map<LeaseKey, Status> statuses(Query query, List<Lease> leases) {
    String tenant = leases.getFirst().key().tenant();
    return query
        .bindArray(
            "job_ids", UUID.class, leases.stream().map(lease -> lease.key().jobId()).iterator())
        .bindArray(
            "fences", Long.class, leases.stream().map(lease -> lease.key().fence()).iterator())
        .reduceRows(
            new HashMap<>(),
            (statuses, row) -> {
              statuses.put(
                  new LeaseKey(
                      tenant, row.getColumn("id", UUID.class), row.getColumn("fence", Long.class)),
                  Status.valueOf(row.getColumn("status", String.class)));
              return statuses;
            });
  }
}
