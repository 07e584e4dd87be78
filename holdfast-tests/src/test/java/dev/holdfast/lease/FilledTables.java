package dev.holdfast.lease;

import dev.holdfast.testkit.TestTenant;
import java.util.stream.Stream;

/** Fills a tenant's tables, and has the planner told of them in time, too early or not at all. */
final class FilledTables {

  static final int JOBS = 50_000;

  /** What is in the tables, and what the planner was last told about them. */
  enum Data {
    /** A new tenant. Its job table was counted when it was made. */
    EMPTY,
    /** Waiting, running and finished jobs, and statistics that say so. */
    FULL,
    /** The first jobs of a new tenant, before anybody counted them. */
    FULL_BUT_NOT_YET_COUNTED,
    /** Counted while nothing ran; now something does. */
    ANALYZED_BEFORE_ANY_RAN,
    /** Counted while full; now all jobs are in the history. */
    DRAINED,
    /** Counted while there was nothing to count: one row is expected whatever is asked. */
    ANALYZED_EMPTY,
    /** Counted while two jobs held something; thousands have since, and nobody cleaned up. */
    HELD_AND_LET_GO
  }

  private final TestTenant tenant;

  FilledTables(TestTenant tenant) {
    this.tenant = tenant;
  }

  void fill(Data data) {
    // The server must not count behind our back.
    Stream.of("job", "job_done", "lane", "attempt", "resource", "hold")
        .forEach(table ->
            tenant.execute("ALTER TABLE {schema}." + table + " SET (autovacuum_enabled = false)"));
    switch (data) {
      case EMPTY -> {}
      case FULL -> {
        addJobs();
        run(200);
        analyze();
      }
      case FULL_BUT_NOT_YET_COUNTED -> {
        addJobs();
        run(200);
      }
      case ANALYZED_BEFORE_ANY_RAN -> {
        addJobs();
        analyze();
        run(5_000);
      }
      case DRAINED -> {
        addJobs();
        analyze();
        finishAll();
      }
      case ANALYZED_EMPTY -> analyze();
      case HELD_AND_LET_GO -> {
        hold(2);
        tenant.execute("VACUUM ANALYZE {schema}.hold, {schema}.resource");
        hold(6_000);
        tenant.execute("DELETE FROM {schema}.hold WHERE fence > 2");
        tenant.execute("DELETE FROM {schema}.resource WHERE length(name) > length('site:2')");
      }
    }
  }

  private void hold(int sites) {
    tenant.execute(
        """
        INSERT INTO {schema}.resource (name)
        SELECT 'site:' || i FROM generate_series(1, %d) AS i ON CONFLICT DO NOTHING
        """
            .formatted(sites));
    tenant.execute(
        """
        INSERT INTO {schema}.hold (resource, job_id, fence, since)
        SELECT 'site:' || i, gen_random_uuid(), i, now() FROM generate_series(1, %d) AS i
        """
            .formatted(sites));
  }

  private void addJobs() {
    tenant.execute(
        """
        INSERT INTO {schema}.lane (queue, kind, priority, host, host_required, labels, guarded)
        SELECT 'default', 'kind_' || i, 0, '', false, '{}', false FROM generate_series(0, 3) AS i
        """);
    tenant.execute(
        """
        INSERT INTO {schema}.job (id, lane, state, run_at, created_at, args)
        SELECT ('01990000-0000-7000-8000-' || lpad(to_hex(i), 12, '0'))::uuid,
               (SELECT min(id) FROM {schema}.lane) + i %% 4, 'queued',
               now() - interval '1 day' + i * interval '1 second', now(), '{"a": 1}'
          FROM generate_series(1, %d) AS i
        """
            .formatted(JOBS));
    tenant.execute(
        """
        INSERT INTO {schema}.job_done
               (id, seq, fence, run_at, created_at, finished_at, lane, attempt, failures, granted,
                state, args)
        SELECT ('01980000-0000-7000-8000-' || lpad(to_hex(i), 12, '0'))::uuid, i, 1, now(), now(),
               now(), (SELECT min(id) FROM {schema}.lane) + i %% 4, 1, 0, 0, 'succeeded', '{"a": 1}'
          FROM generate_series(1, %d) AS i
        """
            .formatted(JOBS));
  }

  private void run(int jobs) {
    tenant.execute(
        """
        UPDATE {schema}.job
           SET state = 'running', fence = 7, worker = 'worker', started_at = now(),
               lease_expires_at = now() + interval '1 minute'
         WHERE id IN (SELECT id FROM {schema}.job ORDER BY id DESC LIMIT %d)
        """
            .formatted(jobs));
  }

  private void analyze() {
    tenant.execute("ANALYZE {schema}.job, {schema}.job_done, {schema}.lane, {schema}.attempt");
  }

  private void finishAll() {
    tenant.execute(
        """
        WITH gone AS (DELETE FROM {schema}.job RETURNING *)
        INSERT INTO {schema}.job_done
               (id, seq, fence, run_at, created_at, finished_at, lane, attempt, failures, granted,
                state, args)
        SELECT id, seq, 1, run_at, created_at, now(), lane, 1, 0, 0, 'succeeded', args FROM gone
        """);
  }

  static String jobId(int number) {
    return "01990000-0000-7000-8000-%012x".formatted(number);
  }
}
