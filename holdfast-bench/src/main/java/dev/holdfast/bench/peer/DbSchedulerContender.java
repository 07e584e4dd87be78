package dev.holdfast.bench.peer;

import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.bench.contender.Backlog;
import dev.holdfast.bench.contender.Contender;
import dev.holdfast.bench.contender.JobQueue;
import dev.holdfast.bench.contender.Pools;
import dev.holdfast.bench.contender.Role;
import dev.holdfast.bench.measure.Server;
import java.time.Duration;

/**
 * db-scheduler with one-time tasks.
 *
 * <ul>
 *   <li>Lock-and-fetch, which its README recommends from a thousand executions a second on, with 20
 *       threads and the limits 4.0 and 20.0 of its own benchmark: a fetch brings up to 400, and the
 *       next one begins when 80 are left.
 *   <li>Immediate execution, so that a job from the same process does not wait for the next poll.
 *   <li>A poll every 50 ms instead of every 10 s, for the jobs of other processes.
 *   <li>The number of a job is the id of its instance, and there is no other data: its
 *       serialization is not what is measured.
 *   <li>Many jobs by {@code scheduleBatch} on a connection that commits at its end; single ones by
 *       the same, which is a mere insert, whereas {@code schedule} looks first whether there is
 *       such an instance.
 * </ul>
 */
public final class DbSchedulerContender implements Contender {

  static final int THREADS = 20;
  static final double LOWER_LIMIT = 4.0;
  static final double UPPER_LIMIT = 20.0;
  static final Duration POLL = Duration.ofMillis(50);

  private static final String SCHEMA = "db_scheduler";
  // A thread holds one connection, the fetch another; the rest is for four producers and a look.
  private static final int CONNECTIONS = THREADS + 6;

  // Two minutes' work.
  private static final int MOST_JOBS = 500_000;

  // The jar brings no table. Of the columns that the README describes, none is left out; of the
  // indexes, the one for priorities, which are off by default.
  private static final String CREATE =
      """
      DROP SCHEMA IF EXISTS db_scheduler CASCADE;
      CREATE SCHEMA db_scheduler;
      CREATE TABLE db_scheduler.scheduled_tasks (
        task_name            text NOT NULL,
        task_instance        text NOT NULL,
        task_data            bytea,
        execution_time       timestamptz NOT NULL,
        picked               boolean NOT NULL,
        picked_by            text,
        last_success         timestamptz,
        last_failure         timestamptz,
        consecutive_failures int,
        last_heartbeat       timestamptz,
        version              bigint NOT NULL,
        priority             smallint,
        PRIMARY KEY (task_name, task_instance)
      );
      CREATE INDEX ON db_scheduler.scheduled_tasks (execution_time);
      CREATE INDEX ON db_scheduler.scheduled_tasks (last_heartbeat);
      """;

  @Override
  public String name() {
    return "db-scheduler";
  }

  @Override
  public Role role() {
    return Role.PEER;
  }

  @Override
  public String settings() {
    return "%s, %d threads, lock-and-fetch %s to %s, immediate execution, poll every %d ms"
        .formatted(
            Versions.of(com.github.kagkarlsson.scheduler.Scheduler.class),
            THREADS,
            LOWER_LIMIT,
            UPPER_LIMIT,
            POLL.toMillis());
  }

  @Override
  public boolean canFill(Backlog backlog) {
    return backlog == Backlog.SAME;
  }

  @Override
  public int mostJobs() {
    return MOST_JOBS;
  }

  @Override
  public void reset(Server server) {
    server.execute(CREATE);
  }

  @Override
  public JobQueue open(Server server) {
    HikariDataSource pool = Pools.openIn(SCHEMA, server.jdbcUrl(), CONNECTIONS);
    return new DbSchedulerQueue(
        pool,
        Pools.openIn(SCHEMA, server.jdbcUrl(), 2),
        Pools.openForBatchesIn(SCHEMA, server.jdbcUrl()));
  }
}
