package dev.holdfast.lease;

import dev.holdfast.fleet.Hosts;
import dev.holdfast.job.Placement;
import dev.holdfast.job.Policy;
import dev.holdfast.lease.LanePositions.Position;
import dev.holdfast.tenant.Columns;
import dev.holdfast.tenant.Db;
import dev.holdfast.tenant.Prepared;
import dev.holdfast.tenant.Prepared.Values;
import java.sql.Array;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/**
 * Grants leases with one statement. It merges the candidates of all lanes in (priority, run_at,
 * seq) order without locks, which says how many to take from each lane; then it locks those lane by
 * lane, skipping rows that another claim has locked. The fence is drawn after the rows are locked,
 * so that a later grant of a job always has the larger one. Contested candidates, which need more
 * than a lease, are only listed here; {@link ContestedClaims} grants or parks them.
 */
final class Claims {

  // How long a job is kept for the host it prefers while that host is online.
  private static final Duration PREFERENCE = Duration.ofSeconds(10);

  // limited:   queues with a limit, and how many more of their jobs may run.
  // lanes:     the lanes that this worker serves, where to begin in each, and what is due in it.
  // candidate: the first due jobs of all lanes together, read without locks.
  // share:     how many of those that are not contested each lane has, and the first of them.
  // due:       as many jobs of each lane, from that one on, locked; locked ones are stepped over.
  // granted:   one fence for all of them, if there are any.
  // claimed:   these jobs, leased to the worker under that fence.
  //
  // Written for the planner, which cannot know the value of a LIMIT parameter and assumes a tenth
  // of the table: the constant LIMITs (no claim is larger) keep it from compiling the statement for
  // a million rows, and the array instead of a join on due from hashing the whole table. Rows are
  // read, and locked, one by one as the outer LIMIT asks for them.
  private static final String CLAIM =
      """
      WITH limited AS MATERIALIZED (
        SELECT queue.name,
               greatest(0, queue.concurrency_limit - (
                 SELECT count(*)
                   FROM {schema}.job
                   JOIN {schema}.lane AS busy ON busy.id = job.lane
                  WHERE job.worker IS NOT NULL AND busy.queue = queue.name)) AS room
          FROM {schema}.queue
         WHERE queue.name = ANY (:queues) AND queue.concurrency_limit IS NOT NULL
      ), lanes AS MATERIALIZED (
        SELECT lane.id, lane.queue, lane.kind, lane.priority, queue.defaults,
               coalesce((queue.defaults ->> 'lease_seconds')::float8 * 1000, :default_lease_ms)
                 AS lease_ms,
               CASE WHEN queue.defaults -> 'timeout_seconds' IS NULL THEN :default_timeout_ms
                    ELSE (queue.defaults ->> 'timeout_seconds')::float8 * 1000
                END AS timeout_ms,
               coalesce(here.run_at, '-infinity') AS from_run_at,
               coalesce(here.seq, 0) AS from_seq,
               CASE WHEN lane.host IN ('', :host) OR lane.host <> ALL (:online_hosts)
                    THEN {schema}.clock()
                    ELSE {schema}.clock() - :preference_ms * interval '1 millisecond'
                END AS due_by,
               lane.guarded OR limited.name IS NOT NULL AS contested,
               coalesce(limited.room, :limit) AS room
          FROM {schema}.lane
          LEFT JOIN {schema}.queue ON queue.name = lane.queue
          LEFT JOIN limited ON limited.name = lane.queue
          LEFT JOIN unnest(:at_lanes, :at_run_ats, :at_seqs) AS here (lane, run_at, seq)
            ON here.lane = lane.id
         WHERE lane.queue = ANY (:queues)
           AND (:any_kind OR lane.kind = ANY (:kinds))
           AND lane.labels <@ :labels
           AND (lane.host IN ('', :host) OR NOT lane.host_required)
           AND NOT coalesce(queue.paused, false)
      ), candidate AS MATERIALIZED (
        SELECT lanes.id AS lane, lanes.contested, lanes.priority, head.id, head.run_at, head.seq
          FROM lanes
         CROSS JOIN LATERAL (
           SELECT id, run_at, seq
             FROM (SELECT job.id, job.run_at, job.seq
                     FROM {schema}.job
                    WHERE job.lane = lanes.id
                      AND job.state = 'queued'
                      AND job.waiting_on IS NULL
                      AND (job.run_at, job.seq) > (lanes.from_run_at, lanes.from_seq)
                      AND job.run_at <= lanes.due_by
                    ORDER BY job.run_at, job.seq
                    LIMIT 1000) AS nearest
            LIMIT least(lanes.room, :limit)
         ) AS head
         ORDER BY lanes.priority, head.run_at, head.seq
         LIMIT :limit
      ), share AS MATERIALIZED (
        SELECT lane, count(*) AS jobs,
               (array_agg(run_at ORDER BY run_at, seq))[1] AS first_run_at,
               (array_agg(seq ORDER BY run_at, seq))[1] AS first_seq
          FROM candidate
         WHERE NOT contested
         GROUP BY lane
      ), due AS MATERIALIZED (
        SELECT picked.place
          FROM share
          JOIN lanes ON lanes.id = share.lane
         CROSS JOIN LATERAL (
           SELECT place
             FROM (SELECT job.ctid AS place
                     FROM {schema}.job
                    WHERE job.lane = share.lane
                      AND job.state = 'queued'
                      AND job.waiting_on IS NULL
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
           SET state = :claimed_as,
               fence = (SELECT fence FROM granted),
               attempt = attempt + 1,
               worker = :worker,
               started_at = {schema}.clock(),
               lease_expires_at = {schema}.clock() + interval '1 millisecond' * coalesce(
                 :asked_lease_ms, (policy ->> 'lease_seconds')::float8 * 1000,
                 (SELECT lease_ms FROM lanes WHERE lanes.id = job.lane)),
               lease_ms = coalesce(
                 :asked_lease_ms, (policy ->> 'lease_seconds')::float8 * 1000,
                 (SELECT lease_ms FROM lanes WHERE lanes.id = job.lane)),
               times_out_at = {schema}.clock() + interval '1 millisecond'
                 * CASE WHEN :claimed_as = 'dispatched' THEN NULL -- its time begins with its start
                        WHEN policy -> 'timeout_seconds' IS NULL
                        THEN (SELECT timeout_ms FROM lanes WHERE lanes.id = job.lane)
                        ELSE (policy ->> 'timeout_seconds')::float8 * 1000
                    END
         WHERE ctid = ANY (ARRAY (SELECT place FROM due))
        RETURNING job.seq, job.lane, {lease_columns}
      )
      -- One row even when nothing was claimed: it tells what else there is to know.
      SELECT claimed.*, lanes.queue, lanes.kind, lanes.defaults,
             ARRAY (SELECT id FROM candidate WHERE contested ORDER BY priority, run_at, seq)
               AS contested,
             ARRAY (SELECT DISTINCT lane FROM candidate WHERE contested) AS contested_lanes,
             CASE WHEN claimed.id IS NULL THEN (
               SELECT extract(epoch FROM min(later.run_at - lanes.due_by)) * 1000
                 FROM lanes
                CROSS JOIN LATERAL (
                  SELECT job.run_at
                    FROM {schema}.job
                   WHERE job.lane = lanes.id
                     AND job.state = 'queued'
                     AND job.waiting_on IS NULL
                     AND job.run_at > lanes.due_by
                   ORDER BY job.run_at
                   LIMIT 1
                ) AS later
             ) END AS next_due_ms
        FROM (VALUES (1)) AS answer
        LEFT JOIN (claimed JOIN lanes ON lanes.id = claimed.lane) ON true
       ORDER BY lanes.priority, claimed.run_at, claimed.seq
      """
          .replace("{lease_columns}", LeaseRow.COLUMNS);

  /**
   * Due jobs that need more than a lease, in the order of claims.
   *
   * @param lanes those that they were found in, which are served by who claims
   */
  record Contested(List<UUID> jobIds, List<Long> lanes) {

    static final Contested NOTHING = new Contested(List.of(), List.of());

    boolean isEmpty() {
      return jobIds.isEmpty();
    }
  }

  /** What one run of {@link #CLAIM} returned. */
  static final class Answer {
    final List<Lease> leases = new ArrayList<>();
    private final Map<Long, Position> reached = new HashMap<>();
    private Contested contested = Contested.NOTHING;
    private Optional<Duration> nextDueIn = Optional.empty();

    Contested contested() {
      return contested;
    }

    Optional<Duration> nextDueIn() {
      return nextDueIn;
    }
  }

  private final LeaseRow leaseRow;
  private final Hosts hosts;
  private final LanePositions positions;
  private final Prepared claim;

  Claims(Db db, LeaseRow leaseRow, Hosts hosts, LanePositions positions) {
    this.leaseRow = leaseRow;
    this.hosts = hosts;
    this.positions = positions;
    this.claim = db.prepared(CLAIM);
  }

  /** Claims with one statement, which needs no transaction around it. */
  Answer claim(Handle handle, ClaimRequest request) {
    List<Position> from = request.thorough() ? List.of() : positions.next();
    long beganNanos = System.nanoTime();
    Answer answer = run(handle, request, from);
    positions.note(from, answer.reached.values(), System.nanoTime() - beganNanos);
    return answer;
  }

  private Answer run(Handle handle, ClaimRequest request, List<Position> from) {
    return claim.query(handle, values -> bind(values, request, from), this::read);
  }

  private void bind(Values values, ClaimRequest request, List<Position> from) throws SQLException {
    values
        .set("default_lease_ms", Policy.DEFAULTS.leaseLength().toMillis())
        .set("default_timeout_ms", defaultTimeoutMillis())
        .set("asked_lease_ms", request.leaseLength().map(Duration::toMillis).orElse(null))
        .set("preference_ms", PREFERENCE.toMillis())
        .set("host", request.host())
        .texts("online_hosts", hosts.online())
        .numbers("at_lanes", from.stream().mapToLong(Position::lane).toArray())
        .moments("at_run_ats", from.stream().map(Position::runAt).toList())
        .numbers("at_seqs", from.stream().mapToLong(Position::seq).toArray())
        .texts("queues", request.queues())
        .set("any_kind", request.kinds().isEmpty())
        .texts("kinds", request.kinds().orElse(Set.of()))
        .texts("labels", List.of(Placement.stored(request.labels())))
        .set("limit", request.limit())
        .set("claimed_as", request.claimedAs().stored())
        .set("worker", request.worker());
  }

  static @Nullable Long defaultTimeoutMillis() {
    return Policy.DEFAULTS.timeout().length().map(Duration::toMillis).orElse(null);
  }

  private Answer read(ResultSet rows) throws SQLException {
    Answer answer = new Answer();
    while (rows.next()) {
      if (rows.isFirst()) {
        answer.contested =
            new Contested(
                ids(rows.getArray("contested")), numbers(rows.getArray("contested_lanes")));
      }
      if (rows.getObject("id") == null) {
        answer.nextDueIn = Columns.optionalWait(rows, "next_due_ms");
      } else {
        Lease lease = leaseRow.read(rows);
        answer.leases.add(lease);
        long lane = rows.getLong("lane");
        // Rows come in order, so the last one seen of a lane is how far the claim came in it.
        answer.reached.put(lane, new Position(lane, lease.runAt(), rows.getLong("seq")));
      }
    }
    return answer;
  }

  private static List<UUID> ids(Array array) throws SQLException {
    return List.of((UUID[]) array.getArray());
  }

  private static List<Long> numbers(Array array) throws SQLException {
    return List.of((Long[]) array.getArray());
  }
}
