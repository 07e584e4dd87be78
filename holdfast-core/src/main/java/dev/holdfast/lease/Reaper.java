package dev.holdfast.lease;

import dev.holdfast.hold.Holds;
import dev.holdfast.hold.Pruner;
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
 * Speaks for workers that fell silent: ends attempts whose lease ran out, and passes on what they
 * held once their work must be over. Also looks after those who wait for resources, should a
 * wake-up ever be missing. Runs on every node; rows that another reaper has are stepped over.
 */
public final class Reaper {

  private static final Logger log = LoggerFactory.getLogger(Reaper.class);

  private static final int BATCH = 500;

  // With a run every five seconds, every ten minutes.
  private static final int RUNS_PER_PRUNING = 120;

  private static final String EXPIRED =
      """
      SELECT id
        FROM {schema}.job
       WHERE worker IS NOT NULL AND lease_expires_at < {schema}.clock()
       ORDER BY fence
       LIMIT (SELECT :limit) -- unknown to the planner, who else prefers to sort the whole table
      """;

  private static final String RESOURCES =
      """
      SELECT DISTINCT unnest(resources) AS name FROM {schema}.job WHERE id = ANY (:job_ids)
      """;

  // Once more, now that the resources are locked: a beat may have come in between.
  private static final String LOCK_EXPIRED =
      """
      SELECT job.id, job.fence, job.worker, job.state, job.args, job.attempt, job.failures,
             job.granted, job.policy, job.run_at, job.lease_expires_at,
             job.resources, job.target, job.subject_type, job.subject_id, job.subject_during,
             job.cursor, job.progress_count, job.result_count, job.percent, job.message,
             job.progress_at, lane.queue, lane.kind, queue.defaults
        FROM {schema}.job
        JOIN {schema}.lane ON lane.id = job.lane
        LEFT JOIN {schema}.queue ON queue.name = lane.queue
       WHERE job.id = ANY (:job_ids)
         AND job.worker IS NOT NULL
         AND job.lease_expires_at < {schema}.clock()
       ORDER BY job.id
         FOR UPDATE OF job SKIP LOCKED
      """;

  private record Expired(Lease lease, JobState state) {

    // A job that was asked to stop and whose worker is gone has stopped.
    Outcome outcome() {
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
  private final String expired;
  private final String resources;
  private final String lockExpired;
  private long runs;
  private String lookedAfter = ""; // the last resource whose waiting jobs were looked after
  private Optional<Duration> untilNextPassing = Optional.empty();

  public Reaper(Tenant tenant, RandomGenerator dice, Consequences consequences) {
    Db db = tenant.db();
    this.jdbi = db.jdbi();
    this.leaseRow = LeaseRow.of(tenant);
    this.transitions = new Transitions(db, consequences);
    this.holds = new Holds(db);
    this.pruner = new Pruner(db);
    this.dice = dice;
    this.consequences = consequences;
    this.expired = db.sql(EXPIRED);
    this.resources = db.sql(RESOURCES);
    this.lockExpired = db.sql(LOCK_EXPIRED);
  }

  /** Ends expired attempts until there are none; answers how many. */
  public int runOnce() {
    int ended = tried("end silent attempts", this::endExpired);
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

  private int endExpired() {
    int total = 0;
    int ended;
    List<UUID> found;
    do {
      found = jdbi.withHandle(this::expired);
      ended = found.isEmpty() ? 0 : endBatch(found);
      total += ended;
    } while (found.size() == BATCH && ended > 0);
    if (total > 0) {
      log.warn("Ended {} attempts whose workers stopped renewing their leases", total);
    }
    return total;
  }

  private int endBatch(List<UUID> jobIds) {
    try {
      return jdbi.inTransaction(handle -> end(handle, jobIds));
    } catch (RuntimeException e) {
      if (SqlErrors.isPassing(e) || jobIds.size() == 1) {
        throw e;
      }
      // One of them is the reason; the others need not wait for it.
      return jobIds.stream()
          .mapToInt(id -> tried("end the attempt of job " + id, () -> endBatch(List.of(id))))
          .sum();
    }
  }

  private List<UUID> expired(Handle handle) {
    return handle.createQuery(expired).bind("limit", BATCH).mapTo(UUID.class).list();
  }

  private int end(Handle handle, List<UUID> jobIds) {
    holds.lock(handle, resourcesOf(handle, jobIds));
    List<Expired> silent =
        handle
            .createQuery(lockExpired)
            .bindArray("job_ids", UUID.class, jobIds)
            .map((row, context) ->
                new Expired(leaseRow.map(row, context), JobState.of(row.getString("state"))))
            .list();
    transitions.apply(
        handle,
        silent.stream().map(each -> Ended.silent(each.lease, each.outcome(), dice)).toList());
    return silent.size();
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
