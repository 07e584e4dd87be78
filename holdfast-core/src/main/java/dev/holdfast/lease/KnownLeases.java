package dev.holdfast.lease;

import dev.holdfast.tenant.Db;
import java.util.Collection;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Finds current leases by what a remote worker knows of them: the job and the fence. */
final class KnownLeases {

  private static final String FIND =
      """
      SELECT {lease_columns}, lane.queue, lane.kind, queue.defaults
        FROM unnest((SELECT :job_ids), (SELECT :fences)) AS asked (job_id, fence)
       CROSS JOIN LATERAL (
         SELECT *
           FROM {schema}.job
          WHERE job.id = asked.job_id AND job.fence = asked.fence AND job.worker IS NOT NULL
         OFFSET 0
       ) AS job
        JOIN {schema}.lane ON lane.id = job.lane
        LEFT JOIN {schema}.queue ON queue.name = lane.queue
      """
          .replace("{lease_columns}", LeaseRow.COLUMNS);

  private final Db db;
  private final LeaseRow leaseRow;
  private final String find;

  KnownLeases(Db db, LeaseRow leaseRow) {
    this.db = db;
    this.leaseRow = leaseRow;
    this.find = db.sql(FIND);
  }

  /** The leases that are still in force; the others are lost. */
  Map<LeaseKey, Lease> find(Collection<LeaseKey> keys) {
    if (keys.isEmpty()) {
      return Map.of();
    }
    return db.withHandle(handle ->
        handle
            .createQuery(find)
            .bindArray("job_ids", UUID.class, keys.stream().map(LeaseKey::jobId).toArray())
            .bindArray("fences", Long.class, keys.stream().map(LeaseKey::fence).toArray())
            .map(leaseRow)
            .stream()
            .collect(Collectors.toMap(Lease::key, Function.identity(), (one, same) -> one)));
  }
}
