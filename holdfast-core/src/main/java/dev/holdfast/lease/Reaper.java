package dev.holdfast.lease;

import dev.holdfast.job.JobState;
import dev.holdfast.job.Outcome;
import dev.holdfast.tenant.Db;
import dev.holdfast.tenant.Tenant;
import java.util.List;
import java.util.random.RandomGenerator;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Speaks for workers that fell silent: ends attempts whose lease ran out. Runs on every node; rows
 * that another reaper has are stepped over.
 */
public final class Reaper {

  private static final Logger log = LoggerFactory.getLogger(Reaper.class);

  private static final int BATCH = 500;

  private static final String EXPIRED =
      """
      SELECT job.id, job.fence, job.worker, job.state, job.args, job.attempt, job.failures,
             job.granted, job.policy, job.run_at, job.lease_expires_at,
             job.cursor, job.progress_count, job.result_count, job.percent, job.message,
             job.progress_at, lane.queue, lane.kind, queue.defaults
        FROM {schema}.job
        JOIN {schema}.lane ON lane.id = job.lane
        LEFT JOIN {schema}.queue ON queue.name = lane.queue
       WHERE job.worker IS NOT NULL AND job.lease_expires_at < {schema}.clock()
       ORDER BY job.fence
       LIMIT (SELECT :limit) -- unknown to the planner, who else prefers to sort the whole table
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
  private final RandomGenerator dice;
  private final String expired;

  public Reaper(Tenant tenant, RandomGenerator dice) {
    Db db = tenant.db();
    this.jdbi = db.jdbi();
    this.leaseRow = LeaseRow.of(tenant);
    this.transitions = new Transitions(db);
    this.dice = dice;
    this.expired = db.sql(EXPIRED);
  }

  /** Ends expired attempts until there are none; answers how many. */
  public int runOnce() {
    int total = 0;
    int batch;
    do {
      batch = jdbi.inTransaction(this::reapBatch);
      total += batch;
    } while (batch == BATCH);
    if (total > 0) {
      log.warn("Ended {} attempts whose workers stopped renewing their leases", total);
    }
    return total;
  }

  private int reapBatch(Handle handle) {
    List<Expired> found =
        handle
            .createQuery(expired)
            .bind("limit", BATCH)
            .map((row, context) ->
                new Expired(leaseRow.map(row, context), JobState.of(row.getString("state"))))
            .list();
    transitions.apply(
        handle,
        found.stream()
            .map(silent -> Transitions.Ended.of(silent.lease, silent.outcome(), dice))
            .toList());
    return found.size();
  }
}
