package dev.holdfast.database;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.Holdfast;
import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Kind;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.lease.FinishReply;
import dev.holdfast.lease.Lease;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.testkit.TestTenant;
import dev.holdfast.worker.Worker;
import dev.holdfast.worker.WorkerListener;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The application has taken all connections of the pool that it shares with its workers. */
class ExhaustedPoolTest {

  private static final Kind<Integer> COUNT = Kind.of("count", Integer.class);
  private static final int POOL = 6;
  private static final int JOBS = 5;
  private static final Duration LEASE = Duration.ofSeconds(8);

  @RegisterExtension final TestTenant tenant = new TestTenant();

  private final CountDownLatch began = new CountDownLatch(JOBS);
  private final CountDownLatch goOn = new CountDownLatch(1);
  private final BlockingQueue<FinishReply> replies = new LinkedBlockingQueue<>();

  @Test
  void leases_are_renewed_and_ends_are_written_while_the_application_has_all_other_connections()
      throws Exception {
    List<UUID> ids = enqueue();
    try (HikariDataSource pool = pool();
        Worker worker = worker(pool)) {
      began.await();
      List<Connection> taken = takeAll(pool);
      Instant before = expiry(ids.getFirst());
      while (!expiry(ids.getFirst()).isAfter(before.plus(LEASE))) {
        Waiting.until(System.nanoTime(), Duration.ofMillis(50)); // for a whole lease, and longer
      }
      goOn.countDown();

      assertAllRecorded();
      giveBack(taken);
    }
    assertSucceededAtTheFirstAttempt(ids);
  }

  @Test
  void ends_that_cannot_be_written_are_kept_until_there_is_a_connection_again() throws Exception {
    List<UUID> ids = enqueue();
    try (HikariDataSource pool = pool();
        Worker worker = worker(pool)) {
      began.await();
      List<Connection> taken = takeAll(pool);
      // The worker's own connections break, too; and others are faster to take what comes free.
      tenant.query(
          """
          SELECT pg_terminate_backend(pid) FROM pg_stat_activity
           WHERE application_name = '%s' AND strpos(query, '{schema}.') > 0
          """
              .formatted(tenant.name().value()));
      taken.addAll(takeAll(pool));
      goOn.countDown(); // before their leases are over, and yet nobody can say so

      HoldfastException refused = refusal(pool, taken);
      assertThat(refused.code()).isEqualTo(ErrorCode.DATABASE);
      assertThat(refused).hasMessageContaining("Connection is not available");
      refused = refusal(pool, taken); // by now, ends were tried in vain as well
      assertThat(refused.code()).isEqualTo(ErrorCode.DATABASE);
      giveBack(taken);

      assertAllRecorded();
    }
    assertSucceededAtTheFirstAttempt(ids);
    assertThat(tenant.invariants().check()).isEmpty();
  }

  /** One of the worker's may come back broken late, and make room for one that is not. */
  private HoldfastException refusal(HikariDataSource pool, List<Connection> taken) {
    while (true) {
      try {
        Holdfast.on(pool).jobs(tenant.name()).enqueue(NewJob.of("nobodys", 1));
        taken.addAll(takeAll(pool));
      } catch (HoldfastException e) {
        return e;
      }
    }
  }

  private List<UUID> enqueue() {
    List<UUID> ids = new ArrayList<>();
    for (int i = 0; i < JOBS; i++) {
      ids.add(
          tenant
              .jobs()
              .enqueue(COUNT.job(i).withPolicy(PolicyOverrides.NONE.withLeaseLength(LEASE)))
              .id());
    }
    return ids;
  }

  private Worker worker(HikariDataSource pool) {
    return Holdfast.on(pool)
        .worker(tenant.name())
        .configure(config -> config.withConcurrency(JOBS))
        .handle(
            COUNT,
            (n, job) -> {
              began.countDown();
              goOn.await();
            })
        .listen(
            new WorkerListener() {
              @Override
              public void finished(Lease lease, FinishReply reply) {
                replies.add(reply);
              }
            })
        .start();
  }

  private void assertAllRecorded() throws InterruptedException {
    Set<FinishReply> heard = new HashSet<>();
    for (int i = 0; i < JOBS; i++) {
      heard.add(replies.take());
    }
    assertThat(heard).containsExactly(new FinishReply.Recorded(JobState.SUCCEEDED));
  }

  private void assertSucceededAtTheFirstAttempt(List<UUID> ids) {
    for (UUID id : ids) {
      assertThat(tenant.job(id).state()).isEqualTo(JobState.SUCCEEDED);
      assertThat(tenant.job(id).attempt()).isEqualTo(1);
    }
  }

  private Instant expiry(UUID id) {
    return tenant.job(id).lease().orElseThrow().expiresAt();
  }

  /** Until the pool has none to give any more. */
  private static List<Connection> takeAll(HikariDataSource pool) {
    List<Connection> taken = new ArrayList<>();
    try {
      while (true) {
        taken.add(pool.getConnection());
      }
    } catch (SQLException e) {
      return taken;
    }
  }

  private static void giveBack(List<Connection> taken) throws SQLException {
    for (Connection connection : taken) {
      connection.close();
    }
  }

  private HikariDataSource pool() {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(TestDatabase.shared().jdbcUrl());
    config.addDataSourceProperty("ApplicationName", tenant.name().value());
    config.setMaximumPoolSize(POOL);
    config.setConnectionTimeout(500);
    return new HikariDataSource(config);
  }
}
