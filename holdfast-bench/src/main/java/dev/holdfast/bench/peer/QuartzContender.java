package dev.holdfast.bench.peer;

import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.bench.contender.Contender;
import dev.holdfast.bench.contender.JobQueue;
import dev.holdfast.bench.contender.Pools;
import dev.holdfast.bench.contender.Role;
import dev.holdfast.bench.measure.Server;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Objects;
import org.quartz.impl.jdbcjobstore.JobStoreTX;

/**
 * Quartz with JobStoreTX and the PostgreSQL delegate. A job is a trigger of one durable job, named
 * by its number: that spares a row, and the data map.
 *
 * <ul>
 *   <li>Clustered, as its documentation demands where more than one process uses the tables; all
 *       others here allow that, too.
 *   <li>20 threads, and as many triggers acquired at once, within the lock, as a batch requires.
 *   <li>The lock on insert stays on, as by default: without it producers are three times as fast,
 *       and starve the worker.
 *   <li>An idle wait of 1 s, the shortest it allows; 30 s by default.
 *   <li>An hour until a late trigger counts as misfired: else a backlog is rewritten after 60 s.
 * </ul>
 */
public final class QuartzContender implements Contender {

  static final int THREADS = 20;
  static final Duration IDLE_WAIT = Duration.ofSeconds(1);
  static final Duration MISFIRE_AFTER = Duration.ofHours(1);

  private static final String SCHEMA = "quartz";
  private static final String TABLES = "tables_postgres.sql";
  // A thread holds one connection, its own threads three; the rest is for producers and a look.
  private static final int CONNECTIONS = THREADS + 8;
  // At some two hundred a second, a hundred thousand would take nine minutes.
  private static final int MOST_JOBS = 3_000;

  @Override
  public String name() {
    return "quartz";
  }

  @Override
  public Role role() {
    return Role.PEER;
  }

  @Override
  public String settings() {
    return "%s, JobStoreTX clustered, %d threads, batches of %d, idle wait %d s, misfires after %d h"
        .formatted(
            Versions.of(JobStoreTX.class),
            THREADS,
            THREADS,
            IDLE_WAIT.toSeconds(),
            MISFIRE_AFTER.toHours());
  }

  @Override
  public int mostJobs() {
    return MOST_JOBS;
  }

  @Override
  public void reset(Server server) {
    server.execute("DROP SCHEMA IF EXISTS quartz CASCADE; CREATE SCHEMA quartz");
    try (HikariDataSource pool = Pools.openIn(SCHEMA, server.jdbcUrl(), 1);
        Connection connection = pool.getConnection();
        Statement statement = connection.createStatement();
        InputStream tables =
            Objects.requireNonNull(JobStoreTX.class.getResourceAsStream(TABLES), TABLES)) {
      statement.execute(new String(tables.readAllBytes(), StandardCharsets.UTF_8));
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public JobQueue open(Server server) {
    HikariDataSource pool = Pools.openIn(SCHEMA, server.jdbcUrl(), CONNECTIONS);
    return new QuartzQueue(pool, Pools.openIn(SCHEMA, server.jdbcUrl(), 2));
  }
}
