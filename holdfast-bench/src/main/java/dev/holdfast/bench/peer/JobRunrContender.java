package dev.holdfast.bench.peer;

import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.bench.contender.Backlog;
import dev.holdfast.bench.contender.Contender;
import dev.holdfast.bench.contender.JobQueue;
import dev.holdfast.bench.contender.Pools;
import dev.holdfast.bench.contender.Role;
import dev.holdfast.bench.measure.Server;
import java.time.Duration;
import org.jobrunr.server.configuration.BackgroundJobServerThreadType;
import org.jobrunr.storage.StorageProviderUtils.DatabaseOptions;
import org.jobrunr.storage.sql.postgres.PostgresStorageProvider;

/**
 * JobRunr, the open-source edition.
 *
 * <ul>
 *   <li>Virtual threads and sixteen workers a core: its defaults, and what its documentation says
 *       to leave alone unless jobs wait for something.
 *   <li>A poll every 5 s, the shortest that it allows; 15 s by default. Between polls it looks for
 *       more as soon as a worker is idle.
 *   <li>Job requests, which spare it the analysis of a lambda's bytecode, and Jackson.
 *   <li>Single jobs by {@code enqueue}, many by {@code enqueue} of a stream, which it stores 5,000
 *       at a time.
 *   <li>Succeeded jobs are kept, as by default, for 36 hours.
 * </ul>
 */
public final class JobRunrContender implements Contender {

  static final int WORKERS = BackgroundJobServerThreadType.VirtualThreads.getDefaultWorkerCount();
  static final Duration POLL = Duration.ofSeconds(5);

  private static final String SCHEMA = "jobrunr";
  // A worker holds one connection while it saves; five threads keep house, four produce.
  private static final int CONNECTIONS = WORKERS + 10;
  // Two minutes' work.
  private static final int MOST_JOBS = 200_000;

  @Override
  public String name() {
    return "jobrunr";
  }

  @Override
  public Role role() {
    return Role.PEER;
  }

  @Override
  public String settings() {
    return "%s, %d workers on virtual threads, poll every %d s"
        .formatted(
            Versions.of(org.jobrunr.server.BackgroundJobServer.class), WORKERS, POLL.toSeconds());
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
    server.execute("DROP SCHEMA IF EXISTS jobrunr CASCADE; CREATE SCHEMA jobrunr");
    try (HikariDataSource pool = Pools.openIn(SCHEMA, server.jdbcUrl(), 2)) {
      new PostgresStorageProvider(pool, DatabaseOptions.CREATE).close();
    }
  }

  @Override
  public JobQueue open(Server server) {
    HikariDataSource pool = Pools.openIn(SCHEMA, server.jdbcUrl(), CONNECTIONS);
    return new JobRunrQueue(pool, Pools.openIn(SCHEMA, server.jdbcUrl(), 2));
  }
}
