package dev.holdfast.retention;

import dev.holdfast.tenant.Db;
import java.time.Duration;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes history that was kept long enough: finished jobs, log lines, attempts, slots and claims.
 * It reads the tables from one end to the other, some pages at a time, and then from the beginning
 * again: that needs no index, which every finished job would have to pay for, and costs the same
 * however long history is kept. Any number of nodes may do it at once. For one thread.
 */
public final class HistoryPruner {

  private static final Logger log = LoggerFactory.getLogger(HistoryPruner.class);

  // A transaction then covers a few thousand rows.
  private static final int PAGES_AT_ONCE = 256;
  // Every worker runs this once a minute, and a page takes ten microseconds. Coming round once an
  // hour is enough, because history is kept for days.
  private static final int RUNS_PER_ROUND = 60;
  private static final long LEAST_PORTIONS = 4;
  private static final long MOST_PORTIONS = 64;

  // The tenant's settings say how long jobs are kept, or else its application. A job that blocks
  // its target is not over for the jobs that wait there, nor is a job whose work was not seen to
  // stop.
  private static final String JOBS =
      """
      WITH old AS MATERIALIZED (
        SELECT id
          FROM {schema}.job_done
         WHERE ctid >= format('(%s,0)', :from_page)::tid
           AND ctid < format('(%s,0)', :to_page)::tid
           AND finished_at < {schema}.clock()
                 - CASE state
                     WHEN 'succeeded' THEN
                       (SELECT {schema}.seconds_of('RETENTION_SUCCEEDED_SECONDS', :succeeded_seconds))
                     ELSE (SELECT {schema}.seconds_of('RETENTION_FAILED_SECONDS', :failed_seconds))
                   END
           AND NOT EXISTS (SELECT FROM {schema}.block WHERE block.job_id = job_done.id)
           AND NOT EXISTS (SELECT
                             FROM {schema}.hold
                            WHERE hold.resource = ANY (job_done.resources)
                              AND hold.job_id = job_done.id)
           FOR UPDATE SKIP LOCKED
      ), attempts AS (
        DELETE FROM {schema}.attempt WHERE job_id = ANY (ARRAY (SELECT id FROM old))
      ), lines AS (
        DELETE FROM {schema}.job_log WHERE job_id = ANY (ARRAY (SELECT id FROM old))
      ), items AS (
        DELETE FROM {schema}.job_item WHERE job_id = ANY (ARRAY (SELECT id FROM old))
      ), keys AS (
        DELETE FROM {schema}.idempotency WHERE job_id = ANY (ARRAY (SELECT id FROM old))
      )
      DELETE FROM {schema}.job_done WHERE id = ANY (ARRAY (SELECT id FROM old))
      """;

  // The last line of an unfinished job stays: it tells where the next one begins, and whoever reads
  // the log from an offset on would miss lines that begin at 0 again.
  private static final String LINES =
      """
      DELETE FROM {schema}.job_log
       WHERE ctid >= format('(%s,0)', :from_page)::tid
         AND ctid < format('(%s,0)', :to_page)::tid
         AND at < {schema}.clock()
               - (SELECT {schema}.seconds_of('RETENTION_LOGS_SECONDS', :logs_seconds))
         AND (NOT EXISTS (SELECT FROM {schema}.job WHERE job.id = job_log.job_id)
              OR EXISTS (SELECT
                           FROM {schema}.job_log AS later
                          WHERE later.job_id = job_log.job_id AND later.id > job_log.id))
      """;

  // Also of unfinished jobs: one that checks every half minute whether it can go on would leave a
  // row each time. Attempts that count are kept as long as their job.
  private static final String UNCOUNTED_ATTEMPTS =
      """
      DELETE FROM {schema}.attempt
       WHERE ctid >= format('(%s,0)', :from_page)::tid
         AND ctid < format('(%s,0)', :to_page)::tid
         AND finished_at < {schema}.clock()
               - (SELECT {schema}.seconds_of('RETENTION_LOGS_SECONDS', :logs_seconds))
         AND outcome IN ('snoozed', 'released', 'never_started')
      """;

  // Not before the slot's moment is as old, too: an operator may have triggered it long ahead, and
  // a slot without a row is decided about again.
  private static final String SLOTS =
      """
      DELETE FROM {schema}.slot
       WHERE ctid >= format('(%s,0)', :from_page)::tid
         AND ctid < format('(%s,0)', :to_page)::tid
         AND greatest(decided_at, scheduled_for) < {schema}.clock()
               - (SELECT {schema}.seconds_of('RETENTION_SLOTS_SECONDS', :slots_seconds))
         AND status NOT IN ('queued', 'running')
      """;

  // There is a row for every claim over HTTP that got leases, so claims with no lease left go soon.
  // A few thousand at a time, skipping those that another node has locked: there may be millions.
  private static final String CLAIMS =
      """
      WITH old AS MATERIALIZED (
        SELECT claim_id
          FROM {schema}.claim
         WHERE claimed_at < {schema}.clock() - interval '10 minutes'
           AND NOT EXISTS (SELECT
                             FROM {schema}.job
                            WHERE job.fence = ANY (claim.fences) AND job.worker IS NOT NULL)
         ORDER BY claimed_at
         LIMIT 5000
           FOR UPDATE SKIP LOCKED
      )
      DELETE FROM {schema}.claim WHERE claim_id = ANY (ARRAY (SELECT claim_id FROM old))
      """;

  private static final String PAGES =
      """
      SELECT pg_relation_size(format('%I.%I', '{schema}', :table::text)::regclass)
               / current_setting('block_size')::integer
      """;

  /** A table, and how far the pruner has come in it. */
  private static final class Sweep {
    final String table;
    final String remove;
    long next;

    Sweep(String table, String remove) {
      this.table = table;
      this.remove = remove;
    }
  }

  private final Db db;
  private final Retention retention;
  private final List<Sweep> sweeps;
  private final String pages;
  private final String claims;

  public HistoryPruner(Db db, Retention retention) {
    this.db = db;
    this.retention = retention;
    this.sweeps =
        List.of(
            new Sweep("job_done", db.sql(JOBS)),
            new Sweep("job_log", db.sql(LINES)),
            new Sweep("attempt", db.sql(UNCOUNTED_ATTEMPTS)),
            new Sweep("slot", db.sql(SLOTS)));
    this.pages = db.sql(PAGES);
    this.claims = db.sql(CLAIMS);
  }

  /** Goes some way through each table; returns how many rows were removed. */
  public int prune() {
    int removed = 0;
    for (Sweep sweep : sweeps) {
      removed += go(sweep);
    }
    removed += forgetClaims();
    if (removed > 0) {
      log.debug("Removed {} rows that were kept long enough", removed);
    }
    return removed;
  }

  private int forgetClaims() {
    int all = 0;
    int some = Integer.MAX_VALUE;
    for (int portion = 0; portion < MOST_PORTIONS && some > 0; portion++) {
      some = db.withHandle(handle -> handle.createUpdate(claims).execute());
      all += some;
    }
    return all;
  }

  private int go(Sweep sweep) {
    long pages = pagesOf(sweep.table);
    long portions =
        Math.clamp(pages / (PAGES_AT_ONCE * RUNS_PER_ROUND), LEAST_PORTIONS, MOST_PORTIONS);
    int removed = 0;
    for (int portion = 0; portion < portions && sweep.next < pages; portion++) {
      removed += remove(sweep, sweep.next);
      sweep.next += PAGES_AT_ONCE;
    }
    if (sweep.next >= pages) {
      sweep.next = 0;
    }
    return removed;
  }

  private long pagesOf(String table) {
    return db.withHandle(
        handle -> handle.createQuery(pages).bind("table", table).mapTo(Long.class).one());
  }

  private int remove(Sweep sweep, long fromPage) {
    return db.withHandle(handle ->
        handle
            .createUpdate(sweep.remove)
            .bind("from_page", fromPage)
            .bind("to_page", fromPage + PAGES_AT_ONCE)
            .bind("succeeded_seconds", seconds(retention.succeeded()))
            .bind("failed_seconds", seconds(retention.failed()))
            .bind("logs_seconds", seconds(retention.logs()))
            .bind("slots_seconds", seconds(retention.slots()))
            .execute());
  }

  private static int seconds(Duration length) {
    return (int) Math.min(length.toSeconds(), Integer.MAX_VALUE); // 68 years are for ever
  }
}
