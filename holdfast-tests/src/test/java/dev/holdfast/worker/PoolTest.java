package dev.holdfast.worker;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.Holdfast;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Kind;
import dev.holdfast.lease.FinishReply;
import dev.holdfast.lease.Lease;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.testkit.TestTenant;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class PoolTest {

  static final Kind<Integer> COUNT = Kind.of("count", Integer.class);

  @RegisterExtension final TestTenant tenant = new TestTenant();

  @Test
  void handlers_that_use_up_the_pool_cannot_silence_heartbeats_or_the_end_of_the_job()
      throws Exception {
    CountDownLatch greedy = new CountDownLatch(1);
    CountDownLatch enough = new CountDownLatch(1);
    CountDownLatch recorded = new CountDownLatch(1);
    UUID id = tenant.jobs().enqueue(COUNT.job(1)).id();
    try (HikariDataSource pool = pool(5, true)) {
      WorkerBuilder builder =
          Holdfast.on(pool)
              .worker(tenant.name())
              .configure(config -> config.withHeartbeatInterval(Duration.ofMillis(50)))
              .listen(
                  new WorkerListener() {
                    @Override
                    public void finished(Lease lease, FinishReply reply) {
                      recorded.countDown();
                    }
                  })
              .handle(
                  COUNT,
                  (n, job) -> {
                    List<Connection> taken = new ArrayList<>();
                    for (int i = 0; i < 2; i++) {
                      taken.add(pool.getConnection());
                    }
                    greedy.countDown();
                    enough.await();
                    for (Connection connection : taken) {
                      connection.close();
                    }
                  });
      try (Worker worker = builder.start()) {
        greedy.await();
        Instant before = expiry(id);
        while (!expiry(id).isAfter(before)) {
          Thread.onSpinWait(); // until a beat came through; the test's deadline ends a wait in vain
        }
        enough.countDown();
        recorded.await();
      }
      assertThat(pool.getHikariPoolMXBean().getActiveConnections())
          .as("connections still taken after closing the worker")
          .isZero();
    }
    assertThat(tenant.job(id).state()).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void a_pool_that_does_not_commit_by_itself_loses_nothing() {
    try (HikariDataSource pool = pool(5, false)) {
      Holdfast holdfast = Holdfast.on(pool);
      UUID id = holdfast.jobs(tenant.name()).enqueue(COUNT.job(1)).id();

      holdfast.worker(tenant.name()).handle(COUNT, (n, job) -> {}).build().runDue();

      assertThat(tenant.job(id).state()).isEqualTo(JobState.SUCCEEDED);
      assertThat(pool.getHikariPoolMXBean().getActiveConnections()).isZero();
    }
  }

  private Instant expiry(UUID id) {
    return tenant.job(id).lease().orElseThrow().expiresAt();
  }

  private static HikariDataSource pool(int size, boolean autoCommit) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(TestDatabase.shared().jdbcUrl());
    config.setMaximumPoolSize(size);
    config.setAutoCommit(autoCommit);
    return new HikariDataSource(config);
  }
}
