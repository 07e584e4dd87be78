package dev.holdfast.lease;

import dev.holdfast.job.Placement;
import dev.holdfast.job.Policy;
import dev.holdfast.lease.LanePositions.Position;
import dev.holdfast.tenant.Db;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.JdbiException;
import org.jdbi.v3.core.statement.Query;
import org.jdbi.v3.core.statement.StatementContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Grants leases. Candidates of all lanes are merged in (priority, run_at, seq) order without locks,
 * which says how many to take from each lane; those are then locked lane by lane, stepping over
 * rows that another claimer has. The fence is drawn after the rows are locked, so that a later
 * grant of a job always has the larger one.
 */
final class Claims {

  private static final Logger log = LoggerFactory.getLogger(Claims.class);

  // How long a job is kept for the host it prefers while that host is online.
  private static final Duration PREFERENCE = Duration.ofSeconds(10);

  // Written for the planner, who cannot know what a LIMIT parameter will be and assumes a tenth of
  // the table: the constant LIMITs (no claim is larger) keep it from compiling the statement for a
  // million rows, and the array instead of a join on due from hashing the whole table. Rows are
  // read, and locked, one by one as the outer LIMIT asks for them.
  private static final String CLAIM =
      """
      WITH lanes AS MATERIALIZED (
        SELECT lane.id, lane.queue, lane.kind, lane.priority, queue.defaults,
               coalesce((queue.defaults ->> 'lease_seconds')::float8 * 1000, :default_lease_ms)
                 AS lease_ms,
               coalesce(here.run_at, '-infinity') AS from_run_at,
               coalesce(here.seq, 0) AS from_seq,
               CASE WHEN lane.host IN ('', :host) OR lane.host <> ALL (:online_hosts)
                    THEN {schema}.clock()
                    ELSE {schema}.clock() - :preference_ms * interval '1 millisecond'
                END AS due_by
          FROM {schema}.lane
          LEFT JOIN {schema}.queue ON queue.name = lane.queue
          LEFT JOIN unnest(:at_lanes, :at_run_ats, :at_seqs) AS here (lane, run_at, seq)
            ON here.lane = lane.id
         WHERE lane.queue = ANY (:queues)
           AND (:any_kind OR lane.kind = ANY (:kinds))
           AND lane.labels <@ :labels
           AND (lane.host IN ('', :host) OR NOT lane.host_required)
           AND NOT coalesce(queue.paused, false)
           AND (queue.concurrency_limit IS NOT NULL) = :limited
      ), candidate AS MATERIALIZED (
        SELECT lanes.id AS lane, head.run_at, head.seq
          FROM lanes
         CROSS JOIN LATERAL (
           SELECT run_at, seq
             FROM (SELECT job.run_at, job.seq
                     FROM {schema}.job
                    WHERE job.lane = lanes.id
                      AND job.state = 'queued'
                      AND (job.run_at, job.seq) > (lanes.from_run_at, lanes.from_seq)
                      AND job.run_at <= lanes.due_by
                    ORDER BY job.run_at, job.seq
                    LIMIT 1000) AS nearest
            LIMIT :limit
         ) AS head
         ORDER BY lanes.priority, head.run_at, head.seq
         LIMIT :limit
      ), share AS MATERIALIZED (
        SELECT lane, count(*) AS jobs,
               (array_agg(run_at ORDER BY run_at, seq))[1] AS first_run_at,
               (array_agg(seq ORDER BY run_at, seq))[1] AS first_seq
          FROM candidate
         GROUP BY lane
      ), due AS MATERIALIZED (
        SELECT picked.id
          FROM share
          JOIN lanes ON lanes.id = share.lane
         CROSS JOIN LATERAL (
           SELECT id
             FROM (SELECT job.id
                     FROM {schema}.job
                    WHERE job.lane = share.lane
                      AND job.state = 'queued'
                      AND (job.run_at, job.seq) >= (share.first_run_at, share.first_seq)
                      AND job.run_at <= lanes.due_by
                    ORDER BY job.run_at, job.seq
                    LIMIT 1000
                      FOR UPDATE SKIP LOCKED) AS unlocked
            LIMIT share.jobs
         ) AS picked
      ), granted AS MATERIALIZED (
        SELECT nextval('{schema}.fence') AS fence
          FROM (SELECT count(*) AS jobs FROM due) AS locked
         WHERE locked.jobs > 0
      ), claimed AS (
        UPDATE {schema}.job
           SET state = 'running',
               fence = (SELECT fence FROM granted),
               attempt = attempt + 1,
               worker = :worker,
               started_at = {schema}.clock(),
               lease_expires_at = {schema}.clock() + interval '1 millisecond' * coalesce(
                 :asked_lease_ms, (policy ->> 'lease_seconds')::float8 * 1000,
                 (SELECT lease_ms FROM lanes WHERE lanes.id = job.lane))
         WHERE id = ANY (ARRAY (SELECT id FROM due))
        RETURNING id, seq, lane, fence, worker, args, attempt, failures, granted, policy, run_at,
                  lease_expires_at,
                  cursor, progress_count, result_count, percent, message, progress_at
      )
      -- One row even when nothing was claimed: it tells what else there is to know.
      SELECT claimed.*, lanes.queue, lanes.kind, lanes.defaults,
             EXISTS (SELECT FROM {schema}.queue
                      WHERE name = ANY (:queues) AND concurrency_limit IS NOT NULL AND NOT paused)
               AS limits_apply,
             CASE WHEN claimed.id IS NULL THEN (
               SELECT extract(epoch FROM min(later.run_at) - {schema}.clock()) * 1000
                 FROM lanes
                CROSS JOIN LATERAL (
                  SELECT job.run_at
                    FROM {schema}.job
                   WHERE job.lane = lanes.id AND job.state = 'queued' AND job.run_at > lanes.due_by
                   ORDER BY job.run_at
                   LIMIT 1
                ) AS later
             ) END AS next_due_ms
        FROM (VALUES (1)) AS answer
        LEFT JOIN (claimed JOIN lanes ON lanes.id = claimed.lane) ON true
       ORDER BY lanes.priority, claimed.run_at, claimed.seq
      """;

  // Under the queue's row lock, so that two claimers cannot both see the last free place. Skipping
  // a locked queue loses nothing: whoever holds the lock is claiming from it.
  private static final String LIMITED_QUEUES =
      """
      SELECT name, concurrency_limit
        FROM {schema}.queue
       WHERE name = ANY (:queues) AND concurrency_limit IS NOT NULL AND NOT paused
       ORDER BY name
         FOR UPDATE SKIP LOCKED
      """;

  private static final String LEASED_IN_QUEUE =
      """
      SELECT count(*)
        FROM {schema}.job
        JOIN {schema}.lane ON lane.id = job.lane
       WHERE job.worker IS NOT NULL AND lane.queue = :queue
      """;

  private record LimitedQueue(String name, int limit) {}

  /** What one run of {@link #CLAIM} told, while its rows are being read. */
  private static final class Answer {
    final List<Lease> leases = new ArrayList<>();
    final Map<Long, Position> reached = new HashMap<>();
    boolean limitsApply;
    Optional<Duration> nextDueIn = Optional.empty();

    /** There is room left, and a queue that must be asked apart because it has a limit. */
    boolean wantsLimited(ClaimRequest request) {
      return limitsApply && leases.size() < request.limit();
    }

    Claimed toClaimed() {
      return new Claimed(leases, nextDueIn);
    }
  }

  private final Jdbi jdbi;
  private final LeaseRow leaseRow;
  private final Hosts hosts;
  private final LanePositions positions;
  private final RepeatableClaims repeatable;
  private final String claim;
  private final String limitedQueues;
  private final String leasedInQueue;

  Claims(Db db, LeaseRow leaseRow, Hosts hosts, LanePositions positions) {
    this.jdbi = db.jdbi();
    this.positions = positions;
    this.repeatable = new RepeatableClaims(db, leaseRow);
    this.leaseRow = leaseRow;
    this.hosts = hosts;
    this.claim = db.sql(CLAIM);
    this.limitedQueues = db.sql(LIMITED_QUEUES);
    this.leasedInQueue = db.sql(LEASED_IN_QUEUE);
  }

  Claimed claim(ClaimRequest request) {
    if (request.claimId().isPresent()) {
      return repeatable.claim(request, handle -> claim(handle, request));
    }
    // Without limits the claim is one statement, and that is a transaction already.
    Answer answer = jdbi.withHandle(handle -> claimUnlimited(handle, request));
    if (answer.wantsLimited(request)) {
      answer.leases.addAll(claimLimitedToo(request, answer));
    }
    return answer.toClaimed();
  }

  // What was granted already must reach the worker, or those jobs would wait out their leases.
  private List<Lease> claimLimitedToo(ClaimRequest request, Answer answer) {
    try {
      return jdbi.inTransaction(handle -> claimLimited(handle, request, answer));
    } catch (JdbiException e) {
      if (answer.leases.isEmpty()) {
        throw e;
      }
      log.warn("Could not claim from queues with a limit; trying again with the next claim", e);
      return List.of();
    }
  }

  private Claimed claim(Handle handle, ClaimRequest request) {
    Answer answer = claimUnlimited(handle, request);
    if (answer.wantsLimited(request)) {
      answer.leases.addAll(claimLimited(handle, request, answer));
    }
    return answer.toClaimed();
  }

  private Answer claimUnlimited(Handle handle, ClaimRequest request) {
    List<Position> from = request.thorough() ? List.of() : positions.next();
    long beganNanos = System.nanoTime();
    Answer answer = run(handle, request, from, false);
    positions.note(from, answer.reached.values(), System.nanoTime() - beganNanos);
    return answer;
  }

  private List<Lease> claimLimited(Handle handle, ClaimRequest request, Answer unlimited) {
    List<Lease> leases = new ArrayList<>();
    for (LimitedQueue queue : lockLimitedQueues(handle, request)) {
      int wanted = request.limit() - unlimited.leases.size() - leases.size();
      int room = Math.min(wanted, queue.limit - leasedIn(handle, queue));
      if (room > 0) {
        ClaimRequest ofQueue = request.withQueues(Set.of(queue.name)).withLimit(room);
        leases.addAll(run(handle, ofQueue, List.of(), true).leases);
      }
    }
    return leases;
  }

  private List<LimitedQueue> lockLimitedQueues(Handle handle, ClaimRequest request) {
    return handle
        .createQuery(limitedQueues)
        .bindArray("queues", String.class, request.queues())
        .map((row, context) -> new LimitedQueue(row.getString(1), row.getInt(2)))
        .list();
  }

  private int leasedIn(Handle handle, LimitedQueue queue) {
    return handle.createQuery(leasedInQueue).bind("queue", queue.name).mapTo(Integer.class).one();
  }

  private Answer run(Handle handle, ClaimRequest request, List<Position> from, boolean limited) {
    Query query = handle.createQuery(claim);
    query
        .bind("default_lease_ms", Policy.DEFAULTS.leaseLength().toMillis())
        .bind("asked_lease_ms", request.leaseLength().map(Duration::toMillis).orElse(null))
        .bind("preference_ms", PREFERENCE.toMillis())
        .bind("host", request.host())
        .bindArray("online_hosts", String.class, hosts.online())
        .bindArray("at_lanes", Long.class, from.stream().map(Position::lane).toList())
        .bindArray("at_run_ats", OffsetDateTime.class, from.stream().map(Position::runAt).toList())
        .bindArray("at_seqs", Long.class, from.stream().map(Position::seq).toList())
        .bindArray("queues", String.class, request.queues())
        .bind("any_kind", request.kinds().isEmpty())
        .bindArray("kinds", String.class, request.kinds().orElse(Set.of()))
        .bindArray("labels", String.class, (Object[]) Placement.stored(request.labels()))
        .bind("limited", limited)
        .bind("limit", request.limit())
        .bind("worker", request.worker());
    Answer answer = query.scanResultSet((rows, context) -> read(rows.get(), context));
    request
        .leaseLength()
        .ifPresent(length -> answer.leases.replaceAll(lease -> lease.withLength(length)));
    return answer;
  }

  private Answer read(ResultSet rows, StatementContext context) throws SQLException {
    try (rows) {
      Answer answer = new Answer();
      while (rows.next()) {
        answer.limitsApply = rows.getBoolean("limits_apply");
        if (rows.getObject("id") == null) {
          long nextDueMillis = rows.getLong("next_due_ms");
          answer.nextDueIn =
              rows.wasNull() ? Optional.empty() : Optional.of(Duration.ofMillis(nextDueMillis));
        } else {
          answer.leases.add(leaseRow.map(rows, context));
          long lane = rows.getLong("lane");
          // Rows come in order, so the last one seen of a lane is how far the claim came in it.
          answer.reached.put(
              lane,
              new Position(
                  lane, rows.getObject("run_at", OffsetDateTime.class), rows.getLong("seq")));
        }
      }
      return answer;
    }
  }
}
