package dev.holdfast.lease;

import dev.holdfast.hold.Holds;
import dev.holdfast.hold.Pruner;
import dev.holdfast.job.Failure;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Outcome;
import dev.holdfast.lease.Transitions.Ended;
import dev.holdfast.tenant.Db;
import dev.holdfast.tenant.SqlErrors;
import dev.holdfast.tenant.Tenant;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.IntSupplier;
import java.util.random.RandomGenerator;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Speaks for workers that fell silent: ends attempts whose lease ran out or that ran too long, and
 * passes on what they held once their work must be over. Also looks after those who wait for
 * resources, should a wake-up ever be missing. Runs on every node; rows that another reaper has are
 * stepped over.
 */
public final class Reaper {

  private static final Logger log = LoggerFactory.getLogger(Reaper.class);

  private static final int BATCH = 500;

  // How long a worker gets to say itself that an attempt ran too long.
  private static final Duration TIMEOUT_GRACE = Duration.ofSeconds(2);

  // With a run every five seconds, every ten minutes.
  private static final int RUNS_PER_PRUNING = 120;

  // What took too long is ended here only when its worker has let the time pass.
  private static final String OVERDUE =
      """
      SELECT id
        FROM {schema}.job
       WHERE worker IS NOT NULL
         AND (lease_expires_at < {schema}.clock()
              OR times_out_at < {schema}.clock() - :grace_ms * interval '1 millisecond')
       ORDER BY fence
       LIMIT (SELECT :limit) -- unknown to the planner, who else prefers to sort the whole table
      """;

  private static final String RESOURCES =
      """
      SELECT DISTINCT unnest(resources) AS name FROM {schema}.job WHERE id = ANY (:job_ids)
      """;

  // Once more, now that the resources are locked: a beat may have come in between.
  private static final String LOCK_OVERDUE =
      """
      SELECT job.id, job.fence, job.worker, job.state, job.args, job.attempt, job.failures,
             job.granted, job.policy, job.run_at, job.lease_expires_at,
             job.resources, job.target, job.subject_type, job.subject_id, job.subject_during,
             job.cursor, job.progress_count, job.result_count, job.percent, job.message,
             job.progress_at, lane.queue, lane.kind, queue.defaults,
             extract(epoch FROM {schema}.clock() - job.lease_expires_at) * 1000 AS silent_ms,
             coalesce(job.times_out_at < {schema}.clock() - :grace_ms * interval '1 millisecond',
                      false) AS timed_out
        FROM {schema}.job
        JOIN {schema}.lane ON lane.id = job.lane
        LEFT JOIN {schema}.queue ON queue.name = lane.queue
       WHERE job.id = ANY (:job_ids)
         AND job.worker IS NOT NULL
       ORDER BY job.id
         FOR UPDATE OF job SKIP LOCKED
      """;

  private record Overdue(Lease lease, JobState state, Duration silent, boolean timedOut) {

    /**
     * A worker that was cut off from the database together with us is not dead. Before its lease
     * counts as lost, there must have been as much time to renew it as it is long.
     */
    boolean isOver(Duration steady) {
      Duration patience = lease.policy().leaseLength().minus(steady);
      return timedOut || silent.compareTo(patience.isNegative() ? Duration.ZERO : patience) > 0;
    }

    Outcome outcome() {
      if (timedOut) {
        return Outcome.failed(Failure.timeout(lease.policy().timeout()));
      }
      // A job that was asked to stop and whose worker is gone has stopped.
      return state == JobState.STOPPING
          ? new Outcome.Stopped()
          : new Outcome.LeaseExpired(lease.worker());
    }
  }

  private final Jdbi jdbi;
  private final LeaseRow leaseRow;
  private final Transitions transitions;
  private final Holds holds;
  private final Pruner pruner;
  private final RandomGenerator dice;
  private final Consequences consequences;
  private final Steadiness steadiness;
  private final String overdue;
  private final String resources;
  private final String lockOverdue;
  private long runs;
  private String lookedAfter = ""; // the last resource whose waiting jobs were looked after
  private Optional<Duration> untilNextPassing = Optional.empty();

  /** One that takes for granted that workers could reach the database all the time. */
  public Reaper(Tenant tenant, RandomGenerator dice, Consequences consequences) {
    this(tenant, dice, consequences, Steadiness.ALWAYS);
  }

  public Reaper(
      Tenant tenant, RandomGenerator dice, Consequences consequences, Steadiness steadiness) {
    this.steadiness = steadiness;
    Db db = tenant.db();
    this.jdbi = db.jdbi();
    this.leaseRow = LeaseRow.of(tenant);
    this.transitions = new Transitions(db, consequences);
    this.holds = new Holds(db);
    this.pruner = new Pruner(db);
    this.dice = dice;
    this.consequences = consequences;
    this.overdue = db.sql(OVERDUE);
    this.resources = db.sql(RESOURCES);
    this.lockOverdue = db.sql(LOCK_OVERDUE);
  }

  /** Ends overdue attempts until there are none; answers how many. */
  public int runOnce() {
    int ended = tried("end silent attempts", this::endOverdue);
    int woken = tried("pass on resources", this::passOn);
    woken += tried("look after waiting jobs", this::lookAfterWaiting);
    if (++runs % RUNS_PER_PRUNING == 0) {
      tried("prune resources", () -> jdbi.inTransaction(pruner::prune));
    }
    if (woken > 0) {
      consequences.woken();
    }
    return ended;
  }

  // What fails in one of its duties must not keep the reaper from the others.
  private static int tried(String duty, IntSupplier work) {
    try {
      return work.getAsInt();
    } catch (RuntimeException e) {
      if (SqlErrors.isTenantGone(e) || SqlErrors.isPassing(e)) {
        throw e;
      }
      log.warn("Could not {}", duty, e);
      return 0;
    }
  }

  /** When to run again, given how long it may take at most. */
  public Duration untilNext(Duration period) {
    return untilNextPassing.filter(soon -> soon.compareTo(period) < 0).orElse(period);
  }

  private int endOverdue() {
    Duration steady = jdbi.withHandle(steadiness::measure);
    int total = 0;
    int ended;
    List<UUID> found;
    do {
      found = jdbi.withHandle(this::overdue);
      ended = found.isEmpty() ? 0 : endBatch(found, steady);
      total += ended;
    } while (found.size() == BATCH && ended > 0);
    if (total > 0) {
      log.warn("Ended {} attempts that ran too long or whose workers fell silent", total);
    }
    return total;
  }

  private int endBatch(List<UUID> jobIds, Duration steady) {
    try {
      return jdbi.inTransaction(handle -> end(handle, jobIds, steady));
    } catch (RuntimeException e) {
      if (SqlErrors.isPassing(e) || jobIds.size() == 1) {
        throw e;
      }
      // One of them is the reason; the others need not wait for it.
      return jobIds.stream()
          .mapToInt(
              id -> tried("end the attempt of job " + id, () -> endBatch(List.of(id), steady)))
          .sum();
    }
  }

  private List<UUID> overdue(Handle handle) {
    return handle
        .createQuery(overdue)
        .bind("grace_ms", TIMEOUT_GRACE.toMillis())
        .bind("limit", BATCH)
        .mapTo(UUID.class)
        .list();
  }

  private int end(Handle handle, List<UUID> jobIds, Duration steady) {
    holds.lock(handle, resourcesOf(handle, jobIds));
    List<Ended> ends =
        handle
            .createQuery(lockOverdue)
            .bindArray("job_ids", UUID.class, jobIds)
            .bind("grace_ms", TIMEOUT_GRACE.toMillis())
            .map((row, context) ->
                new Overdue(
                    leaseRow.map(row, context),
                    JobState.of(row.getString("state")),
                    Duration.ofMillis(row.getLong("silent_ms")),
                    row.getBoolean("timed_out")))
            .stream()
            .filter(overdue -> overdue.isOver(steady))
            .map(overdue -> Ended.silent(overdue.lease, overdue.outcome(), dice))
            .toList();
    transitions.apply(handle, ends);
    return ends.size();
  }

  private List<String> resourcesOf(Handle handle, List<UUID> jobIds) {
    return handle
        .createQuery(resources)
        .bindArray("job_ids", UUID.class, jobIds)
        .mapTo(String.class)
        .list();
  }

  private int passOn() {
    untilNextPassing = jdbi.withHandle(holds::untilNextPassing);
    return untilNextPassing.filter(Duration::isZero).isPresent()
        ? jdbi.inTransaction(holds::passOn)
        : 0;
  }

  private int lookAfterWaiting() {
    List<String> names =
        jdbi.withHandle(handle -> holds.waiting().waitedFor(handle, lookedAfter, BATCH));
    lookedAfter = names.size() < BATCH ? "" : names.getLast();
    if (names.isEmpty()) {
      return 0;
    }
    return jdbi.inTransaction(handle -> {
      holds.make(handle, names); // somebody waits, so there must be a row to lock
      holds.lock(handle, names);
      return holds.waiting().wake(handle, names);
    });
  }
}
