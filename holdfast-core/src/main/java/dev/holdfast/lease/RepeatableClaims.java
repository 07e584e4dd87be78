package dev.holdfast.lease;

import dev.holdfast.job.Policy;
import dev.holdfast.lease.ClaimRounds.Round;
import dev.holdfast.tenant.Db;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.jdbi.v3.core.Handle;

/**
 * Claims with an id. Remote workers can lose the answer to a claim; asked again under the same id,
 * they get the leases they already have instead of more.
 */
final class RepeatableClaims {

  private static final String KNOWN =
      """
      SELECT claim_id FROM {schema}.claim WHERE claim_id = ANY (:claim_ids)
      """;

  // The last thing that a claim does, after all its locks: it waits for a transaction that has
  // claimed under the same id, and that one must have nothing left to wait for.
  private static final String REMEMBER =
      """
      INSERT INTO {schema}.claim (claim_id, worker, fences, claimed_at)
      VALUES (:claim_id, :worker, :fences, {schema}.clock())
      ON CONFLICT (claim_id) DO NOTHING
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
  private final String known;
  private final String remember;
  private final String renew;
  private final String repeat;

  RepeatableClaims(Db db, LeaseRow leaseRow) {
    this.db = db;
    this.leaseRow = leaseRow;
    this.known = db.sql(KNOWN);
    this.remember = db.sql(REMEMBER);
    this.renew = db.sql(RENEW);
    this.repeat = db.sql(REPEAT);
  }

  Round claim(ClaimRequest request, Function<Handle, Round> claim) {
    String claimId = request.claimId().orElseThrow();
    while (true) {
      Optional<Round> round =
          db.inTransaction(handle -> {
            if (!known(handle, List.of(claimId)).isEmpty()) {
              List<Lease> again = repeat(handle, request);
              return Optional.of(new Round(again, false, false, 0, Optional.empty()));
            }
            Round granted = claim.apply(handle);
            if (remember(handle, request, granted.leases())) {
              return Optional.of(granted);
            }
            handle.rollback(); // somebody else has claimed under that id meanwhile
            return Optional.empty();
          });
      if (round.isPresent()) {
        return round.get();
      }
    }
  }

  /** Which of these have brought something before. */
  Set<String> known(Handle handle, List<String> claimIds) {
    return handle
        .createQuery(known)
        .bindArray("claim_ids", String.class, claimIds)
        .mapTo(String.class)
        .collectIntoSet();
  }

  /**
   * Remembers what a claim with an id brought; one that brought nothing is to look again.
   *
   * @return false when another claim under that id has brought something
   */
  boolean remember(Handle handle, ClaimRequest request, List<Lease> leases) {
    if (request.claimId().isEmpty() || leases.isEmpty()) {
      return true;
    }
    return handle
            .createUpdate(remember)
            .bind("claim_id", request.claimId().get())
            .bind("worker", request.worker())
            .bindArray(
                "fences",
                Long.class,
                leases.stream().map(lease -> lease.key().fence()).distinct().toArray())
            .execute()
        == 1;
  }

  /** What an earlier claim under that id brought, as far as it is still leased. */
  List<Lease> again(ClaimRequest request) {
    return db.inTransaction(handle -> repeat(handle, request));
  }

  private List<Lease> repeat(Handle handle, ClaimRequest request) {
    String claimId = request.claimId().orElseThrow();
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
