package dev.holdfast.lease;

import dev.holdfast.job.Policy;
import dev.holdfast.tenant.Db;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/**
 * Makes claims with an id repeatable. Remote workers can lose the answer to a claim; when they ask
 * again under the same id, they get the leases they already have instead of more.
 */
final class RepeatableClaims {

  private static final String KNOWN =
      """
      SELECT claim_id FROM {schema}.claim WHERE claim_id = ANY (:claim_ids)
      """;

  // Comes after all locks of resources and jobs: it waits for a transaction that claims under the
  // same id, and that transaction must not wait for any of these locks. And it comes before the
  // application's hook: two claims under one id, one of them shared with other workers, would
  // otherwise wait for each other if their hooks write the same row.
  private static final String REMEMBER =
      """
      INSERT INTO {schema}.claim (claim_id, worker, fences, claimed_at)
      VALUES (:claim_id, :worker, :fences, {schema}.clock())
      ON CONFLICT (claim_id) DO NOTHING
      """;

  // A worker that asks again has lost time, so the leases begin anew, as the worker assumes. Rows
  // that are locked are skipped: a batch of ends locks jobs that finish before jobs that go back,
  // whatever their ids, so a transaction that waits for one job must not have another locked.
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
          FROM leased AS asked
         CROSS JOIN LATERAL (
           SELECT id
             FROM {schema}.job
            WHERE job.id = asked.id AND job.fence = asked.fence AND job.worker IS NOT NULL
              FOR UPDATE SKIP LOCKED
         ) AS job
      )
      UPDATE {schema}.job
         SET lease_expires_at = greatest(lease_expires_at,
               {schema}.clock() + interval '1 millisecond' * coalesce(
                 :asked_lease_ms, lease_ms, (policy ->> 'lease_seconds')::float8 * 1000,
                 (SELECT (queue.defaults ->> 'lease_seconds')::float8 * 1000
                    FROM {schema}.lane
                    JOIN {schema}.queue ON queue.name = lane.queue
                   WHERE lane.id = job.lane),
                 :default_lease_ms)),
             lease_ms = coalesce(:asked_lease_ms, lease_ms)
       WHERE id = ANY (ARRAY (SELECT id FROM mine))
      RETURNING id
      """;

  // Renews a row that was skipped. The worker counts its lease from when it asked, so this waits
  // for the row: perhaps only a report has it locked.
  private static final String RENEW_ONE =
      """
      UPDATE {schema}.job
         SET lease_expires_at = greatest(lease_expires_at,
               {schema}.clock() + :lease_ms * interval '1 millisecond'),
             lease_ms = coalesce(:asked_lease_ms, lease_ms)
       WHERE id = :job_id AND fence = :fence AND worker IS NOT NULL
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
  private final String renewOne;
  private final String repeat;

  RepeatableClaims(Db db, LeaseRow leaseRow) {
    this.db = db;
    this.leaseRow = leaseRow;
    this.known = db.sql(KNOWN);
    this.remember = db.sql(REMEMBER);
    this.renew = db.sql(RENEW);
    this.renewOne = db.sql(RENEW_ONE);
    this.repeat = db.sql(REPEAT);
  }

  /**
   * Claims in one transaction, or answers as the first time.
   *
   * @param tell called with the granted leases once they are remembered, as the last of all
   */
  Round claim(
      ClaimRequest request, Function<Handle, Round> claim, BiConsumer<Handle, List<Lease>> tell) {
    String claimId = request.claimId().orElseThrow();
    while (true) {
      Optional<Told> told =
          db.inTransaction(handle -> {
            if (!known(handle, List.of(claimId)).isEmpty()) {
              return Optional.of(repeat(handle, request));
            }
            Round granted = claim.apply(handle);
            if (remember(handle, request, granted.leases())) {
              tell.accept(handle, granted.leases());
              return Optional.of(new Told(granted, List.of()));
            }
            handle.rollback(); // another claim under this id was faster
            return Optional.empty();
          });
      if (told.isPresent()) {
        return settled(request, told.get()).round;
      }
    }
  }

  /**
   * The answer to a claim.
   *
   * @param busy leases of an earlier claim that are not renewed yet, because their rows were locked
   */
  private record Told(Round round, List<Lease> busy) {}

  /** Which of these ids were granted leases before. */
  Set<String> known(Handle handle, List<String> claimIds) {
    return handle
        .createQuery(known)
        .bindArray("claim_ids", String.class, claimIds)
        .mapTo(String.class)
        .collectIntoSet();
  }

  /**
   * Remembers the leases that were granted under a claim id. A claim that got none is not
   * remembered, so that it looks again when repeated.
   *
   * @return false when another claim under this id was granted leases
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

  /**
   * The leases that an earlier claim under this id was granted, as far as they are still in force.
   */
  List<Lease> again(ClaimRequest request) {
    Told told = db.inTransaction(handle -> repeat(handle, request));
    return settled(request, told).round.leases();
  }

  private Told repeat(Handle handle, ClaimRequest request) {
    Set<UUID> renewed =
        handle
            .createQuery(renew)
            .bind("claim_id", request.claimId().orElseThrow())
            .bind("worker", request.worker())
            .bind("asked_lease_ms", asked(request))
            .bind("default_lease_ms", Policy.DEFAULTS.leaseLength().toMillis())
            .mapTo(UUID.class)
            .collectIntoSet();
    List<Lease> leases = leased(handle, request);
    return new Told(
        Round.only(leases),
        leases.stream().filter(lease -> !renewed.contains(lease.key().jobId())).toList());
  }

  // Each row in its own transaction, so that no other transaction waits for one that waits here.
  // Leases that ended meanwhile are left out.
  private Told settled(ClaimRequest request, Told told) {
    if (told.busy.isEmpty()) {
      return told;
    }
    told.busy.forEach(lease -> renew(request, lease));
    List<Lease> leases = db.inTransaction(handle -> leased(handle, request));
    return new Told(Round.only(leases), List.of());
  }

  private void renew(ClaimRequest request, Lease lease) {
    db.useTransaction(handle ->
        handle
            .createUpdate(renewOne)
            .bind("job_id", lease.key().jobId())
            .bind("fence", lease.key().fence())
            .bind("lease_ms", request.leaseLength().orElse(lease.length()).toMillis())
            .bind("asked_lease_ms", asked(request))
            .execute());
  }

  private static @Nullable Long asked(ClaimRequest request) {
    return request.leaseLength().map(Duration::toMillis).orElse(null);
  }

  private List<Lease> leased(Handle handle, ClaimRequest request) {
    return handle
        .createQuery(repeat)
        .bind("claim_id", request.claimId().orElseThrow())
        .bind("worker", request.worker())
        .map(leaseRow)
        .list();
  }
}
