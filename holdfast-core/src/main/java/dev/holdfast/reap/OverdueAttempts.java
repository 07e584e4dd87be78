package dev.holdfast.reap;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.hold.Holds;
import dev.holdfast.lease.Consequences;
import dev.holdfast.lease.Ended;
import dev.holdfast.lease.LeaseRow;
import dev.holdfast.lease.Transitions;
import dev.holdfast.tenant.Columns;
import dev.holdfast.tenant.Db;
import dev.holdfast.tenant.SqlErrors;
import dev.holdfast.tenant.Tenant;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.random.RandomGenerator;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.statement.Query;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends attempts whose lease ran out or that ran too long, in place of their workers.
 *
 * <p>They are found page by page, without locks. One transaction ends a page: it locks the
 * resources that the jobs need, as far as they are free, then the jobs, and looks again which of
 * them are overdue. Jobs that need a resource whose lock somebody else has follow in a second
 * transaction, which waits for a moment. If a page fails for a reason that does not pass by itself,
 * each of its jobs is tried alone.
 */
final class OverdueAttempts {

  private static final Logger log = LoggerFactory.getLogger(OverdueAttempts.class);

  private static final int BATCH = 500;

  private static final String OVERDUE =
      """
      SELECT id, fence
        FROM {schema}.job
       WHERE {overdue}
         AND fence >= :fence
         AND (fence, id) > (:fence, :id)
       ORDER BY fence, id
       LIMIT (SELECT :limit) -- unknown to the planner, which would otherwise sort the whole table
      """
          .replace("{overdue}", isOverdue());

  // Jobs of agents that have not been heard of for too long. Such agents renew leases only by what
  // they report.
  private static final String OF_SILENT_AGENTS =
      """
      SELECT job.id, job.fence
        FROM {schema}.agent
        JOIN {schema}.agent_job ON agent_job.worker = agent.name AND NOT agent_job.settled
       CROSS JOIN LATERAL (
         SELECT id, fence
           FROM {schema}.job
          WHERE job.id = agent_job.job_id
            AND job.fence = agent_job.fence
            AND job.worker = agent_job.worker
         OFFSET 0
       ) AS job
       WHERE agent.seen_at < {schema}.clock() - {schema}.agent_patience()
         AND (job.fence, job.id) > (:fence, :id)
       ORDER BY job.fence, job.id
       LIMIT :limit
      """;

  private static final String OF_WORKERS =
      """
      SELECT id
        FROM {schema}.job
       WHERE worker IS NOT NULL
         AND worker = ANY (:workers)
         AND started_at <= :before
       ORDER BY fence
      """;

  private static final String RESOURCES =
      """
      SELECT id, resources FROM {schema}.job WHERE id = ANY (:job_ids)
      """;

  // Checks again, now that the resources are locked: a beat may have come in between. An attempt
  // whose worker fell silent before the time limit counts as lost, however late that is found, and
  // may be retried.
  private static final String LOCK_OVERDUE =
      """
      SELECT job.state, job.stop_as, job.started_at, {lease_columns}, lane.queue, lane.kind, queue.defaults,
             (SELECT string_agg(line, E'\\n' ORDER BY id)
                FROM (SELECT line, id
                        FROM {schema}.job_log
                       WHERE job_log.job_id = job.id AND job_log.fence = job.fence
                       ORDER BY id DESC
                       LIMIT 20) AS last) AS said,
             extract(epoch FROM {schema}.clock() - job.lease_expires_at) * 1000 AS silent_ms,
             CASE WHEN job.times_out_at < {schema}.clock() - :grace_ms * interval '1 millisecond'
                   AND job.times_out_at <= job.lease_expires_at
                  THEN extract(epoch FROM {schema}.clock() - job.times_out_at) * 1000
              END AS too_long_ms,
             extract(epoch FROM {schema}.clock() - agent.seen_at) * 1000 AS agent_silent_ms,
             extract(epoch FROM {schema}.agent_patience()) * 1000 AS agent_patience_ms,
             extract(epoch FROM {schema}.agent_lease(agent_job.said IS NOT NULL)) * 1000
               AS agent_lease_ms
        FROM {schema}.job
        JOIN {schema}.lane ON lane.id = job.lane
        LEFT JOIN {schema}.queue ON queue.name = lane.queue
        LEFT JOIN {schema}.agent_job
          ON agent_job.job_id = job.id AND agent_job.fence = job.fence
             AND agent_job.worker = job.worker
        LEFT JOIN {schema}.agent ON agent.name = agent_job.worker
       WHERE job.id = ANY (:job_ids)
         AND job.worker IS NOT NULL
       ORDER BY job.id
         FOR UPDATE OF job SKIP LOCKED
      """
          .replace("{lease_columns}", LeaseRow.COLUMNS);

  private record Found(long fence, UUID id) {
    static final Found NOTHING = new Found(0, new UUID(0, 0));
  }

  private final Db db;
  private final LeaseRow leaseRow;
  private final Transitions transitions;
  private final Holds holds;
  private final RandomGenerator dice;
  private final String overdue;
  private final String ofSilentAgents;
  private final String ofWorkers;
  private final String resources;
  private final String lockOverdue;

  OverdueAttempts(Tenant tenant, RandomGenerator dice, Consequences consequences) {
    Db db = tenant.db();
    this.db = db;
    this.leaseRow = LeaseRow.of(tenant);
    this.transitions = new Transitions(db, consequences);
    this.holds = new Holds(db);
    this.dice = dice;
    this.overdue = db.sql(OVERDUE);
    this.ofSilentAgents = db.sql(OF_SILENT_AGENTS);
    this.ofWorkers = db.sql(OF_WORKERS);
    this.resources = db.sql(RESOURCES);
    this.lockOverdue = db.sql(LOCK_OVERDUE);
  }

  /** Which jobs are overdue. A worker gets some time to end an attempt that ran too long itself. */
  static String isOverdue() {
    return """
    worker IS NOT NULL
         AND (lease_expires_at < {schema}.clock()
              OR times_out_at < {schema}.clock() - :grace_ms * interval '1 millisecond')\
    """;
  }

  /**
   * Ends overdue attempts until there are none; returns how many.
   *
   * @param downtime when workers could not renew their leases
   */
  int endOverdue(Downtime downtime) {
    int total = endPageByPage(after -> db.withHandle(handle -> overdue(handle, after)), downtime);
    total +=
        endPageByPage(after -> db.inTransaction(handle -> ofSilentAgents(handle, after)), downtime);
    if (total > 0) {
      log.warn("Ended {} attempts that ran too long or whose workers fell silent", total);
    }
    return total;
  }

  /** Ends what these dead workers claimed up to {@code before}; returns how many attempts. */
  int endOf(List<String> workers, Instant before) {
    List<UUID> jobIds =
        db.withHandle(handle ->
            handle
                .createQuery(ofWorkers)
                .bindArray("workers", String.class, workers)
                .bind("before", before.atOffset(ZoneOffset.UTC))
                .mapTo(UUID.class)
                .list());
    int ended = 0;
    for (int from = 0; from < jobIds.size(); from += BATCH) {
      List<UUID> batch = jobIds.subList(from, Math.min(from + BATCH, jobIds.size()));
      ended += endFreeThenBusy(batch, each -> isOf(each, workers, before));
    }
    return ended;
  }

  private static boolean isOf(Overdue attempt, List<String> workers, Instant before) {
    return workers.contains(attempt.lease().worker()) && !attempt.startedAt().isAfter(before);
  }

  // Each page begins after the last one, because some attempts of that may be there still: those
  // that cannot be ended.
  private int endPageByPage(Function<Found, List<Found>> next, Downtime downtime) {
    int ended = 0;
    List<Found> found = List.of(Found.NOTHING);
    do {
      found = next.apply(found.getLast());
      ended += found.isEmpty() ? 0 : endPage(found.stream().map(Found::id).toList(), downtime);
    } while (found.size() == BATCH);
    return ended;
  }

  private int endPage(List<UUID> jobIds, Downtime downtime) {
    try {
      return endFreeThenBusy(jobIds, each -> each.isOver(downtime));
    } catch (RuntimeException e) {
      if (SqlErrors.isPassing(e)) {
        throw e;
      }
      return endOneByOne(jobIds, downtime); // the others need not wait for the one that fails
    }
  }

  private int endOneByOne(List<UUID> jobIds, Downtime downtime) {
    int ended = 0;
    Map<UUID, RuntimeException> refused = new LinkedHashMap<>();
    for (UUID id : jobIds) {
      try {
        ended += endFreeThenBusy(List.of(id), each -> each.isOver(downtime));
      } catch (RuntimeException e) {
        if (SqlErrors.isTenantGone(e) || SqlErrors.isPassing(e)) {
          throw e;
        }
        refused.put(id, e);
      }
    }
    if (!refused.isEmpty()) {
      log.warn(
          "Could not end {} attempts, of job {} among others",
          refused.size(),
          refused.keySet().iterator().next(),
          refused.values().iterator().next());
    }
    return ended;
  }

  private List<Found> overdue(Handle handle, Found after) {
    return found(
        handle.createQuery(overdue).bind("grace_ms", Overdue.TIMEOUT_GRACE.toMillis()), after);
  }

  private List<Found> ofSilentAgents(Handle handle, Found after) {
    return found(handle.createQuery(ofSilentAgents), after);
  }

  private static List<Found> found(Query query, Found after) {
    return query
        .bind("fence", after.fence)
        .bind("id", after.id)
        .bind("limit", BATCH)
        .map((row, context) -> new Found(row.getLong("fence"), row.getObject("id", UUID.class)))
        .list();
  }

  /**
   * The result of a batch.
   *
   * @param left jobs that need a resource whose lock another transaction has
   */
  private record Batch(int ended, List<UUID> left) {}

  // A frozen transaction may have the lock of a resource that one of these jobs held; the other
  // jobs do not wait for it.
  private int endFreeThenBusy(List<UUID> jobIds, Predicate<Overdue> isOver) {
    Batch free =
        db.inTransaction(handle -> lockResourcesAndEnd(handle, jobIds, isOver, holds::lockFree));
    return free.ended + (free.left.isEmpty() ? 0 : endBusy(free.left, isOver));
  }

  // A transaction that is not frozen has the lock for milliseconds only. But a busy resource is
  // always locked by some transaction, so this waits for a moment.
  private int endBusy(List<UUID> jobIds, Predicate<Overdue> isOver) {
    try {
      return db.inTransaction(
          handle -> lockResourcesAndEnd(handle, jobIds, isOver, this::lockSoon).ended);
    } catch (HoldfastException e) {
      if (!SqlErrors.isLockTimeout(e)) {
        throw e;
      }
      log.debug("Somebody keeps a resource's lock; {} are for the next round", jobIds.size(), e);
      return 0;
    }
  }

  private Set<String> lockSoon(Handle handle, Set<String> names) {
    holds.lockSoon(handle, names);
    handle.execute("SET LOCAL lock_timeout TO DEFAULT"); // a hook may wait for its own tables
    return names; // a resource without a row has no holders
  }

  private Batch lockResourcesAndEnd(
      Handle handle,
      List<UUID> jobIds,
      Predicate<Overdue> isOver,
      BiFunction<Handle, Set<String>, Set<String>> lock) {
    Map<UUID, List<String>> resources = resourcesOf(handle, jobIds);
    Set<String> names = new TreeSet<>();
    resources.values().forEach(names::addAll);
    Set<String> locked = names.isEmpty() ? Set.of() : lock.apply(handle, names);
    List<UUID> free = new ArrayList<>();
    List<UUID> left = new ArrayList<>();
    resources.forEach((id, needed) -> (locked.containsAll(needed) ? free : left).add(id));
    return new Batch(free.isEmpty() ? 0 : lockJobsAndEnd(handle, free, isOver), left);
  }

  private int lockJobsAndEnd(Handle handle, List<UUID> jobIds, Predicate<Overdue> isOver) {
    List<Ended> ends =
        handle
            .createQuery(lockOverdue)
            .bindArray("job_ids", UUID.class, jobIds)
            .bind("grace_ms", Overdue.TIMEOUT_GRACE.toMillis())
            .map((row, context) -> Overdue.read(leaseRow.map(row, context), row))
            .stream()
            .filter(isOver)
            .map(each -> Ended.silent(each.lease(), each.outcome(), each.said(), dice))
            .toList();
    transitions.apply(handle, ends);
    return ends.size();
  }

  private Map<UUID, List<String>> resourcesOf(Handle handle, List<UUID> jobIds) {
    return handle
        .createQuery(resources)
        .bindArray("job_ids", UUID.class, jobIds)
        .map((row, context) ->
            Map.entry(row.getObject("id", UUID.class), Columns.texts(row, "resources")))
        .collectToMap(Map.Entry::getKey, Map.Entry::getValue);
  }
}
