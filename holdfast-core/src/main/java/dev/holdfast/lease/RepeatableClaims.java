package dev.holdfast.lease;

import dev.holdfast.job.Policy;
import dev.holdfast.lease.ClaimRounds.Round;
import dev.holdfast.tenant.Db;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.jdbi.v3.core.Handle;

/**
 * Claims with an id. Remote workers can lose the answer to a claim; asked again under the same id,
 * they get the leases they already have instead of more.
 */
final class RepeatableClaims {

  // Waits for a transaction that is claiming under the same id right now.
  private static final String BEGIN =
      """
      INSERT INTO {schema}.claim (claim_id, worker, fences, claimed_at)
      VALUES (:claim_id, :worker, '{}', {schema}.clock())
      ON CONFLICT (claim_id) DO NOTHING
      """;

  private static final String REMEMBER =
      """
      UPDATE {schema}.claim SET fences = :fences WHERE claim_id = :claim_id
      """;

  private static final String FORGET =
      """
      DELETE FROM {schema}.claim WHERE claim_id = :claim_id
      """;

  // Somebody who asks again has lost time; the leases begin anew, as their holder will think. Who
  // waits for several jobs waits for them by id: an end of some of them may be under way.
  private static final String RENEW =
      """
      WITH leased AS MATERIALIZED (
        SELECT job.id, job.fence
          FROM {schema}.claim
         CROSS JOIN LATERAL (
           SELECT id, fence
             FROM {schema}.job
            WHERE job.fence = ANY (claim.fences)
              AND job.worker = claim.worker
              AND job.worker IS NOT NULL
           OFFSET 0
         ) AS job
         WHERE claim.claim_id = :claim_id AND claim.worker = :worker
      ), mine AS MATERIALIZED (
        SELECT job.id
          FROM (SELECT leased.id, leased.fence FROM leased ORDER BY leased.id) AS asked
         CROSS JOIN LATERAL (
           SELECT id
             FROM {schema}.job
            WHERE job.id = asked.id AND job.fence = asked.fence AND job.worker IS NOT NULL
              FOR UPDATE
         ) AS job
      )
      UPDATE {schema}.job
         SET lease_expires_at = greatest(lease_expires_at,
               {schema}.clock() + interval '1 millisecond' * coalesce(
                 :asked_lease_ms, (policy ->> 'lease_seconds')::float8 * 1000,
                 (SELECT (queue.defaults ->> 'lease_seconds')::float8 * 1000
                    FROM {schema}.lane
                    JOIN {schema}.queue ON queue.name = lane.queue
                   WHERE lane.id = job.lane),
                 :default_lease_ms))
       WHERE id = ANY (ARRAY (SELECT id FROM mine))
      """;

  private static final String REPEAT =
      """
      SELECT {lease_columns}, lane.queue, lane.kind, queue.defaults
        FROM {schema}.claim
        JOIN {schema}.job ON job.fence = ANY (claim.fences) AND job.worker = claim.worker
        JOIN {schema}.lane ON lane.id = job.lane
        LEFT JOIN {schema}.queue ON queue.name = lane.queue
       WHERE claim.claim_id = :claim_id AND claim.worker = :worker AND job.worker IS NOT NULL
       ORDER BY lane.priority, job.run_at, job.seq
      """
          .replace("{lease_columns}", LeaseRow.COLUMNS);

  private final Db db;
  private final LeaseRow leaseRow;
  private final String begin;
  private final String remember;
  private final String forget;
  private final String renew;
  private final String repeat;

  RepeatableClaims(Db db, LeaseRow leaseRow) {
    this.db = db;
    this.leaseRow = leaseRow;
    this.begin = db.sql(BEGIN);
    this.remember = db.sql(REMEMBER);
    this.forget = db.sql(FORGET);
    this.renew = db.sql(RENEW);
    this.repeat = db.sql(REPEAT);
  }

  Round claim(ClaimRequest request, Function<Handle, Round> claim) {
    String claimId = request.claimId().orElseThrow();
    return db.inTransaction(handle -> {
      boolean isNew =
          handle
                  .createUpdate(begin)
                  .bind("claim_id", claimId)
                  .bind("worker", request.worker())
                  .execute()
              == 1;
      if (!isNew) {
        return new Round(repeat(handle, request, claimId), false, 0, Optional.empty());
      }
      Round round = claim.apply(handle);
      if (round.leases().isEmpty()) {
        forget(handle, claimId); // asked again, it is to look again
      } else {
        remember(handle, claimId, round.leases());
      }
      return round;
    });
  }

  private void forget(Handle handle, String claimId) {
    handle.createUpdate(forget).bind("claim_id", claimId).execute();
  }

  private void remember(Handle handle, String claimId, List<Lease> leases) {
    handle
        .createUpdate(remember)
        .bind("claim_id", claimId)
        .bindArray(
            "fences",
            Long.class,
            leases.stream().map(lease -> lease.key().fence()).distinct().toArray())
        .execute();
  }

  private List<Lease> repeat(Handle handle, ClaimRequest request, String claimId) {
    handle
        .createUpdate(renew)
        .bind("claim_id", claimId)
        .bind("worker", request.worker())
        .bind("asked_lease_ms", request.leaseLength().map(Duration::toMillis).orElse(null))
        .bind("default_lease_ms", Policy.DEFAULTS.leaseLength().toMillis())
        .execute();
    return handle
        .createQuery(repeat)
        .bind("claim_id", claimId)
        .bind("worker", request.worker())
        .map(leaseRow)
        .map(lease -> request.leaseLength().map(lease::withLength).orElse(lease))
        .list();
  }
}
