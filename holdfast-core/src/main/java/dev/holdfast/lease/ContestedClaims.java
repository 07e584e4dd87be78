package dev.holdfast.lease;

import dev.holdfast.hold.Holds;
import dev.holdfast.hold.Rooms;
import dev.holdfast.hold.Rooms.Asking;
import dev.holdfast.hold.Rooms.Decision;
import dev.holdfast.hold.Waiting.Parked;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Needs;
import dev.holdfast.job.Policy;
import dev.holdfast.lease.Claims.Contested;
import dev.holdfast.subject.Subjects;
import dev.holdfast.tenant.Columns;
import dev.holdfast.tenant.Db;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jdbi.v3.core.Handle;

/**
 * Grants leases to contested jobs, which need more than a lease: resources, all of them or none; a
 * place in a queue with a limit; a subject that moves with the job. It takes locks in the same
 * order as all other code (queues, resources by name, jobs), then decides everything in Java and
 * writes it at once.
 */
final class ContestedClaims {

  private static final Duration WAITED_TOO_LONG = Duration.ofSeconds(60);

  private static final int MOST_KNOWN_RESOURCES = 100_000;

  private static final String CANDIDATES =
      """
      SELECT job.id, job.lane, job.seq, job.resources, job.target, job.subject_type,
             job.subject_id, job.subject_during, lane.queue,
             queue.concurrency_limit IS NOT NULL AS limited
        FROM {schema}.job
        JOIN {schema}.lane ON lane.id = job.lane
        LEFT JOIN {schema}.queue ON queue.name = lane.queue
       WHERE job.id = ANY (:job_ids)
         AND job.lane = ANY (:lanes)
         AND NOT coalesce(queue.paused, false)
       ORDER BY lane.priority, job.run_at, job.seq
      """;

  // By lane and seq, too: meanwhile a job may have been moved to another host or queue, or been
  // deleted and enqueued again under its id, with other needs than those whose locks are held.
  private static final String LOCK_JOBS =
      """
      SELECT job.id, job.passed_over, job.waited_too_long
        FROM unnest((SELECT :job_ids), (SELECT :lanes), (SELECT :seqs)) AS asked (id, lane, seq)
       CROSS JOIN LATERAL (
         SELECT id, coalesce(passed_over, 0) AS passed_over,
                coalesce(waiting_since
                           < {schema}.clock() - :patience_ms * interval '1 millisecond', false)
                  AS waited_too_long
           FROM {schema}.job
          WHERE job.id = asked.id
            AND job.lane = asked.lane
            AND job.seq = asked.seq
            AND job.state = 'queued'
            AND job.waiting_on IS NULL
            AND job.run_at <= {schema}.clock()
            FOR UPDATE SKIP LOCKED
       ) AS job
      """;

  private static final String GRANT =
      """
      WITH granted AS MATERIALIZED (
        SELECT nextval('{schema}.fence') AS fence
      ), claimed AS (
        UPDATE {schema}.job
           SET state = :claimed_as,
               fence = (SELECT fence FROM granted),
               attempt = attempt + 1,
               worker = :worker,
               started_at = {schema}.clock(),
               waiting_since = NULL,
               passed_over = NULL,
               lease_expires_at = {schema}.clock() + interval '1 millisecond' * coalesce(
                 :asked_lease_ms, (job.policy ->> 'lease_seconds')::float8 * 1000,
                 (lanes.defaults ->> 'lease_seconds')::float8 * 1000, :default_lease_ms),
               lease_ms = coalesce(
                 :asked_lease_ms, (job.policy ->> 'lease_seconds')::float8 * 1000,
                 (lanes.defaults ->> 'lease_seconds')::float8 * 1000, :default_lease_ms),
               times_out_at = {schema}.clock() + interval '1 millisecond'
                 * CASE WHEN :claimed_as = 'dispatched' THEN NULL
                        WHEN job.policy -> 'timeout_seconds' IS NOT NULL
                        THEN (job.policy ->> 'timeout_seconds')::float8 * 1000
                        WHEN lanes.defaults -> 'timeout_seconds' IS NOT NULL
                        THEN (lanes.defaults ->> 'timeout_seconds')::float8 * 1000
                        ELSE :default_timeout_ms
                    END
          FROM (SELECT lane.id, queue.defaults
                  FROM {schema}.lane
                  LEFT JOIN {schema}.queue ON queue.name = lane.queue) AS lanes
         WHERE job.id = ANY (:job_ids) AND lanes.id = job.lane
        RETURNING job.seq, job.lane, {lease_columns}
      ), held AS (
        INSERT INTO {schema}.hold (resource, job_id, fence, since)
        SELECT resource, id, fence, {schema}.clock()
          FROM claimed
         CROSS JOIN unnest(claimed.resources) AS resource
      ), kept AS (
        DELETE FROM {schema}.reservation WHERE job_id = ANY (:job_ids)
      )
      SELECT claimed.*, lane.queue, lane.kind, queue.defaults
        FROM claimed
        JOIN {schema}.lane ON lane.id = claimed.lane
        LEFT JOIN {schema}.queue ON queue.name = lane.queue
       ORDER BY lane.priority, claimed.run_at, claimed.seq
      """
          .replace("{lease_columns}", LeaseRow.COLUMNS);

  /**
   * A job as it is before anything is locked.
   *
   * @param needs these never change, as long as the job has its {@code seq}
   */
  private record Candidate(
      UUID jobId, long lane, long seq, Needs needs, String queue, boolean limited) {}

  /**
   * The result of a claim.
   *
   * @param aside how many jobs another round will not meet in the same state: they are parked now,
   *     or the rows of resources will be created
   * @param missed how many jobs another transaction had locked, or were in a limited queue that
   *     another claim had locked
   * @param woken how many jobs, of any kind, can be claimed now and could not before
   */
  record Granted(List<Lease> leases, int aside, int missed, int woken) {

    static final Granted NOTHING = new Granted(List.of(), 0, 0, 0);
  }

  private final LeaseRow leaseRow;
  private final Holds holds;
  private final QueueLimits queuePlaces;
  private final Subjects subjects;
  private final Set<String> knownResources = ConcurrentHashMap.newKeySet();
  private final String candidates;
  private final String lockJobs;
  private final String grant;

  ContestedClaims(Db db, LeaseRow leaseRow) {
    this.leaseRow = leaseRow;
    this.holds = new Holds(db);
    this.queuePlaces = new QueueLimits(db);
    this.subjects = new Subjects(db);
    this.candidates = db.sql(CANDIDATES);
    this.lockJobs = db.sql(LOCK_JOBS);
    this.grant = db.sql(GRANT);
  }

  /** Called in a transaction that has no resource's lock yet. */
  Granted claim(Handle handle, ClaimRequest request, Contested contested) {
    List<Candidate> asked = candidates(handle, contested);
    Map<String, Integer> places = queuePlaces.lock(handle, limitedQueues(asked));
    // The others must not be locked: the claim that has their queue locked would skip them.
    List<Candidate> found =
        asked.stream()
            .filter(candidate -> !candidate.limited || places.containsKey(candidate.queue))
            .toList();
    Set<String> names = new TreeSet<>();
    found.forEach(candidate -> names.addAll(candidate.needs.resources()));
    int missed = asked.size() - found.size();
    if (!lock(handle, names, request.claimId().isPresent())) {
      // Without the jobs that need the missing rows, those behind them would be served first.
      return new Granted(List.of(), found.size(), missed, 0);
    }
    Rooms rooms = holds.waiting().rooms(handle, names);
    Map<UUID, Asking> locked = lockJobs(handle, found);

    List<UUID> granted = new ArrayList<>();
    List<Parked> parked = new ArrayList<>();
    Set<String> leftFree = new TreeSet<>();
    for (Candidate candidate : found) {
      Asking asking = locked.get(candidate.jobId);
      boolean hasPlace = !candidate.limited || places.getOrDefault(candidate.queue, 0) > 0;
      if (asking == null) {
        missed++;
        continue;
      }
      if (!hasPlace) {
        continue;
      }
      switch (rooms.decide(asking)) {
        case Decision.Grant() -> {
          granted.add(asking.jobId());
          places.computeIfPresent(candidate.queue, (queue, free) -> free - 1);
          // The target has room left, so it is the next job's turn.
          asking.needs().targetResource().filter(rooms::hasRoomLeft).ifPresent(leftFree::add);
        }
        case Decision.Park(String resource, List<String> reserved, boolean insists) -> {
          parked.add(new Parked(asking.jobId(), resource, reserved, insists));
          leftFree.addAll(asking.needs().resources());
        }
      }
    }

    holds.waiting().park(handle, parked);
    List<Lease> leases = granted.isEmpty() ? List.of() : grant(handle, request, granted);
    int woken = holds.waiting().wake(handle, leftFree);
    if (request.claimedAs() == JobState.RUNNING) { // those of dispatched jobs move in Starts
      subjects.move(handle, leases.stream().flatMap(lease -> lease.started().stream()).toList());
    }
    return new Granted(leases, parked.size(), missed, woken);
  }

  private List<Candidate> candidates(Handle handle, Contested contested) {
    return handle
        .createQuery(candidates)
        .bindArray("job_ids", UUID.class, contested.jobIds())
        .bindArray("lanes", Long.class, contested.lanes())
        .map((row, context) ->
            new Candidate(
                row.getObject("id", UUID.class),
                row.getLong("lane"),
                row.getLong("seq"),
                Columns.needs(row),
                row.getString("queue"),
                row.getBoolean("limited")))
        .list();
  }

  private static Set<String> limitedQueues(List<Candidate> found) {
    return found.stream()
        .filter(Candidate::limited)
        .map(Candidate::queue)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /**
   * Locks the resources' rows, and creates those that are not known here. A claim with an id has no
   * second round, so it does not rely on that.
   *
   * @return false when some known ones were pruned, which the next round creates
   */
  private boolean lock(Handle handle, Set<String> names, boolean surely) {
    if (knownResources.size() > MOST_KNOWN_RESOURCES) {
      knownResources.clear();
    }
    int made =
        holds.makeSoon(
            handle,
            names.stream().filter(name -> surely || !knownResources.contains(name)).toList());
    Set<String> there = holds.lockSoon(handle, names);
    if (made == 0) { // rows made here may be rolled back, so they are not known yet
      knownResources.addAll(there);
    }
    names.stream().filter(name -> !there.contains(name)).forEach(knownResources::remove);
    return there.containsAll(names);
  }

  // How long a job has waited is read under its lock: it may have run since it became a candidate.
  private Map<UUID, Asking> lockJobs(Handle handle, List<Candidate> found) {
    Map<UUID, Needs> needs =
        found.stream().collect(Collectors.toMap(Candidate::jobId, Candidate::needs));
    return handle
        .createQuery(lockJobs)
        .bindArray("job_ids", UUID.class, found.stream().map(Candidate::jobId).toList())
        .bindArray("lanes", Long.class, found.stream().map(Candidate::lane).toList())
        .bindArray("seqs", Long.class, found.stream().map(Candidate::seq).toList())
        .bind("patience_ms", WAITED_TOO_LONG.toMillis())
        .map((row, context) -> {
          UUID id = row.getObject("id", UUID.class);
          return new Asking(
              id,
              Objects.requireNonNull(needs.get(id)),
              row.getInt("passed_over"),
              row.getBoolean("waited_too_long"));
        })
        .collectToMap(Asking::jobId, Function.identity());
  }

  private List<Lease> grant(Handle handle, ClaimRequest request, List<UUID> jobIds) {
    return handle
        .createQuery(grant)
        .bindArray("job_ids", UUID.class, jobIds)
        .bind("worker", request.worker())
        .bind("claimed_as", request.claimedAs().stored())
        .bind("asked_lease_ms", request.leaseLength().map(Duration::toMillis).orElse(null))
        .bind("default_timeout_ms", Claims.defaultTimeoutMillis())
        .bind("default_lease_ms", Policy.DEFAULTS.leaseLength().toMillis())
        .map(leaseRow)
        .list();
  }
}
