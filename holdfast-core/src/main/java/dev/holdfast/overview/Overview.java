package dev.holdfast.overview;

import dev.holdfast.job.JobState;
import dev.holdfast.tenant.Columns;
import dev.holdfast.tenant.Db;
import dev.holdfast.tenant.Tenant;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.jdbi.v3.core.Handle;

/**
 * Figures that show the state of one tenant. No method reads more than a limited number of rows,
 * however large the tables are: where counting would cost too much, the database's own statistics
 * answer, and the figure says that it is an estimate. Thread-safe.
 */
public final class Overview {

  /** Tables up to so many bytes are counted; larger ones are estimated. */
  private static final long SMALL = 16L << 20;

  private static final int FAILURES_READ = 1_000;
  private static final int WAITS_READ = 500;

  private static final String NOW =
      """
      SELECT {schema}.clock()
      """;

  // From the server's own counts of written rows, which exist anyway, and from the sequence that
  // every grant of a lease draws from.
  private static final String COUNTERS =
      """
      SELECT {schema}.clock() AS at,
             pg_stat_get_tuples_inserted('{schema}.job'::regclass) AS enqueued,
             (SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM {schema}.fence) AS claims,
             pg_stat_get_tuples_inserted('{schema}.job_done'::regclass) AS finished,
             (SELECT count(*)
                FROM (SELECT
                        FROM {schema}.job_done
                       WHERE state = 'failed' AND finished_at > :failed_since
                       LIMIT :most) AS latest) AS failed
      """;

  // The newest finished jobs, by the index of their ids, which begin with their time.
  private static final String WAITS =
      """
      SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY waited_ms) AS half,
             percentile_disc(0.99) WITHIN GROUP (ORDER BY waited_ms) AS nearly_all
        FROM (SELECT greatest(0, extract(epoch FROM started_at - run_at) * 1000) AS waited_ms
                FROM (SELECT started_at, run_at
                        FROM {schema}.job_done
                       ORDER BY id DESC
                       LIMIT :most) AS newest
               WHERE started_at > :since) AS waited
      """;

  private static final String IS_SMALL =
      """
      SELECT pg_relation_size('{schema}.job') <= :small AS live,
             pg_relation_size('{schema}.job_done') <= :small AS done
      """;

  private static final String LIVE =
      """
      SELECT state, count(*) AS jobs FROM {schema}.job GROUP BY state
      """;

  private static final String DONE =
      """
      SELECT state, count(*) AS jobs FROM {schema}.job_done GROUP BY state
      """;

  // Leased jobs are few and have an index; the others are estimated.
  private static final String LEASED =
      """
      SELECT state, count(*) AS jobs FROM {schema}.job WHERE worker IS NOT NULL GROUP BY state
      """;

  private static final String ESTIMATED =
      """
      SELECT common.state, round(common.share * class.reltuples) AS jobs
        FROM pg_class AS class
        JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
        JOIN pg_stats AS stats
          ON stats.schemaname = namespace.nspname
             AND stats.tablename = class.relname
             AND stats.attname = 'state'
       CROSS JOIN LATERAL unnest(stats.most_common_vals::text::text[], stats.most_common_freqs)
         AS common (state, share)
       WHERE class.oid = :relation::regclass AND class.reltuples > 0
      """;

  private static final String FAILURES =
      """
      SELECT failed.error_code, lane.kind, count(*) AS jobs, max(failed.finished_at) AS latest,
             (array_agg(failed.id ORDER BY failed.finished_at DESC))[1] AS job_id,
             (array_agg(left(failed.error_message, 300) ORDER BY failed.finished_at DESC))[1]
               AS error_message
        FROM (SELECT id, lane, error_code, error_message, finished_at
                FROM {schema}.job_done
               WHERE state = 'failed' AND finished_at > :since
               ORDER BY finished_at DESC
               LIMIT :most) AS failed
        JOIN {schema}.lane ON lane.id = failed.lane
       GROUP BY failed.error_code, lane.kind
       ORDER BY jobs DESC, latest DESC
       LIMIT 12
      """;

  private static final String OLDEST =
      """
      SELECT first.id, lane.queue, lane.kind, first.run_at
        FROM {schema}.lane
       CROSS JOIN LATERAL (
         SELECT job.id, job.run_at
           FROM {schema}.job
          WHERE job.lane = lane.id AND job.state = 'queued' AND job.waiting_on IS NULL
            AND job.run_at <= {schema}.clock()
          ORDER BY job.run_at, job.seq
          LIMIT 1
       ) AS first
       ORDER BY first.run_at
       LIMIT 1
      """;

  private static final String HOLDS =
      """
      SELECT count(*) FILTER (WHERE age < interval '1 minute') AS minute,
             count(*) FILTER (WHERE age >= interval '1 minute' AND age < interval '10 minutes')
               AS ten,
             count(*) FILTER (WHERE age >= interval '10 minutes' AND age < interval '1 hour')
               AS hour,
             count(*) FILTER (WHERE age >= interval '1 hour') AS longer
        FROM (SELECT {schema}.clock() - since AS age FROM {schema}.hold LIMIT :most) AS held
      """;

  private static final String BLOCKS =
      """
      SELECT resource, job_id, reason, actor, since
        FROM {schema}.block
       ORDER BY since
       LIMIT :most
      """;

  /**
   * How many jobs are in a state.
   *
   * @param exact whether they were counted; otherwise it is an estimate
   */
  public record Count(long jobs, boolean exact) {}

  /**
   * How long jobs waited between their time and their start.
   *
   * @param halfMillis the median
   * @param nearlyAllMillis the 99th percentile
   */
  public record Waits(double halfMillis, double nearlyAllMillis) {}

  /**
   * Recent failures of one kind with one error code.
   *
   * @param latest when the last of them failed
   * @param jobId the last of them
   * @param message the error message of the last of them
   */
  public record Failures(
      String errorCode, String kind, long jobs, Instant latest, UUID jobId, String message) {}

  /** The job that has been claimable for longest and that no worker has claimed. */
  public record Oldest(UUID jobId, String queue, String kind, Instant runAt) {}

  /** How many holds there are, by their age: below a minute, ten minutes or an hour, or longer. */
  public record HoldAges(long minute, long tenMinutes, long hour, long longer) {}

  /** A job that blocks its target. */
  public record Standing(String resource, UUID jobId, String reason, String actor, Instant since) {}

  private final Db db;

  public Overview(Tenant tenant) {
    this.db = tenant.db();
  }

  /** The database's time, by the tenant's clock. */
  public Instant now() {
    return db.withHandle(handle -> handle.createQuery(db.sql(NOW)).mapTo(Instant.class).one());
  }

  /** What has happened so far; failures only since a moment, and up to 100,000. */
  public Counters counters(Instant failedSince) {
    return db.inTransaction(handle ->
        handle
            .createQuery(db.sql(COUNTERS))
            .bind("failed_since", failedSince.atOffset(ZoneOffset.UTC))
            .bind("most", 100_000)
            .map((row, context) ->
                new Counters(
                    Columns.instant(row, "at"),
                    row.getLong("enqueued"),
                    row.getLong("claims"),
                    row.getLong("finished"),
                    row.getLong("failed")))
            .one());
  }

  /**
   * The waits of the newest 500 finished jobs, as far as they started since a moment; empty when
   * none did.
   */
  public Optional<Waits> waits(Instant since) {
    return db.inTransaction(handle ->
        handle
            .createQuery(db.sql(WAITS))
            .bind("since", since.atOffset(ZoneOffset.UTC))
            .bind("most", WAITS_READ)
            .map((row, context) ->
                row.getObject("half") == null
                    ? Optional.<Waits>empty()
                    : Optional.of(new Waits(row.getDouble("half"), row.getDouble("nearly_all"))))
            .one());
  }

  /** How many jobs there are in each state. */
  public Map<JobState, Count> counts() {
    return db.withHandle(handle -> {
      Map<String, Object> small =
          handle.createQuery(db.sql(IS_SMALL)).bind("small", SMALL).mapToMap().one();
      Map<JobState, Count> counts = new EnumMap<>(JobState.class);
      for (JobState state : JobState.values()) {
        counts.put(state, new Count(0, true));
      }
      if (Boolean.TRUE.equals(small.get("live"))) {
        count(handle, LIVE, counts);
      } else {
        estimate(handle, "{schema}.job", counts);
        for (JobState state : List.of(JobState.DISPATCHED, JobState.RUNNING, JobState.STOPPING)) {
          counts.put(state, new Count(0, true));
        }
        count(handle, LEASED, counts);
      }
      if (Boolean.TRUE.equals(small.get("done"))) {
        count(handle, DONE, counts);
      } else {
        estimate(handle, "{schema}.job_done", counts);
      }
      return counts;
    });
  }

  private void count(Handle handle, String sql, Map<JobState, Count> counts) {
    handle
        .createQuery(db.sql(sql))
        .map((row, context) ->
            Map.entry(JobState.of(row.getString("state")), new Count(row.getLong("jobs"), true)))
        .forEach(each -> counts.put(each.getKey(), each.getValue()));
  }

  // States that are too rare for the statistics count as about 0.
  private void estimate(Handle handle, String table, Map<JobState, Count> counts) {
    boolean live = table.endsWith(".job");
    for (JobState state : JobState.values()) {
      if (state.isFinished() != live) {
        counts.put(state, new Count(0, false));
      }
    }
    handle
        .createQuery(db.sql(ESTIMATED))
        .bind("relation", db.sql(table))
        .map((row, context) ->
            Map.entry(JobState.of(row.getString("state")), new Count(row.getLong("jobs"), false)))
        .forEach(each -> counts.put(each.getKey(), each.getValue()));
  }

  /**
   * The latest thousand failures within a time, grouped by code and kind; the twelve largest
   * groups.
   */
  public List<Failures> failures(Duration within) {
    Instant since = now().minus(within);
    return db.inTransaction(handle ->
        handle
            .createQuery(db.sql(FAILURES))
            .bind("since", since.atOffset(ZoneOffset.UTC))
            .bind("most", FAILURES_READ)
            .map((row, context) ->
                new Failures(
                    row.getString("error_code"),
                    row.getString("kind"),
                    row.getLong("jobs"),
                    Columns.instant(row, "latest"),
                    row.getObject("job_id", UUID.class),
                    row.getString("error_message")))
            .list());
  }

  public Optional<Oldest> oldest() {
    return db.inTransaction(handle ->
        handle
            .createQuery(db.sql(OLDEST))
            .map((row, context) ->
                new Oldest(
                    row.getObject("id", UUID.class),
                    row.getString("queue"),
                    row.getString("kind"),
                    Columns.instant(row, "run_at")))
            .findOne());
  }

  /** How old holds are; looks at 20,000 of them at most. */
  public HoldAges holds() {
    return db.withHandle(handle ->
        handle
            .createQuery(db.sql(HOLDS))
            .bind("most", 20_000)
            .map((row, context) ->
                new HoldAges(
                    row.getLong("minute"),
                    row.getLong("ten"),
                    row.getLong("hour"),
                    row.getLong("longer")))
            .one());
  }

  /** Jobs that block their targets, the longest first. */
  public List<Standing> blocks(int limit) {
    return db.withHandle(handle ->
        handle
            .createQuery(db.sql(BLOCKS))
            .bind("most", limit)
            .map((row, context) ->
                new Standing(
                    row.getString("resource"),
                    row.getObject("job_id", UUID.class),
                    row.getString("reason"),
                    row.getString("actor"),
                    Columns.instant(row, "since")))
            .list());
  }
}
