package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.HikariPoolMXBean;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Kind;
import dev.holdfast.server.auth.Role;
import dev.holdfast.server.database.Database;
import dev.holdfast.server.database.DatabaseConfig;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.testkit.TestTenant;
import dev.holdfast.worker.Worker;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;

/** Whatever floods a node, leases are renewed: beats have connections that nobody else takes. */
class ReservedConnectionsTest {

  private static final Kind<Integer> COUNT = Kind.of("count", Integer.class);
  private static final int LEAST = 12;
  private static final int WORK = 6;
  private static final int FLOOD = 50;

  @RegisterExtension final TestTenant tenant = new TestTenant();

  @Test
  void remote_leases_are_renewed_while_everybody_else_waits_for_a_connection() throws Exception {
    UUID id = tenant.jobs().enqueue(COUNT.job(1)).id();
    try (Database database = database();
        HoldfastServer server = HoldfastServer.start(TestServer.config(), database);
        ExecutorService crowd = Executors.newVirtualThreadPerTaskExecutor()) {
      Caller worker = caller(server, Role.WORKER);
      Caller viewer = caller(server, Role.VIEWER);
      JsonNode lease =
          worker
              .post("/api/v1/leases", "{\"worker\": \"w\", \"queues\": [\"default\"]}")
              .json()
              .path("leases")
              .path(0);
      List<Connection> taken = takeAll(database);
      List<Future<Integer>> flood = new ArrayList<>();
      for (int i = 0; i < FLOOD; i++) {
        flood.add(crowd.submit(() -> viewer.get("/api/v1/jobs").status()));
      }

      for (int beat = 0; beat < 5; beat++) {
        String beaten =
            worker
                .post(
                    "/api/v1/leases/extend",
                    "{\"worker\": \"w\", \"leases\": [{\"job_id\": \"%s\", \"fence\": %d}]}"
                        .formatted(id, lease.path("fence").asLong()))
                .json()
                .at("/results/0/status")
                .asString();

        assertThat(beaten).isEqualTo("extended");
      }
      assertThat(flood).noneMatch(Future::isDone);

      for (Connection connection : taken) {
        connection.close();
      }
      for (Future<Integer> waited : flood) {
        assertThat(waited.get()).isEqualTo(200);
      }
    }
  }

  @Test
  void a_workers_beats_find_a_connection_even_when_theirs_broke_and_the_pool_is_empty()
      throws Exception {
    CountDownLatch began = new CountDownLatch(1);
    CountDownLatch enough = new CountDownLatch(1);
    UUID id = tenant.jobs().enqueue(COUNT.job(1)).id();
    try (Database database = database()) {
      Worker worker =
          database
              .holdfast()
              .worker(tenant.name())
              .configure(config -> config.withHeartbeatInterval(Duration.ofMillis(50)))
              .handle(
                  COUNT,
                  (n, job) -> {
                    began.countDown();
                    enough.await();
                  })
              .start();
      try (worker) {
        began.await();
        List<Connection> taken = takeAll(database);
        var killed = killBeats();
        while (killed.isEmpty()) { // it may not have beaten yet, or have said something else since
          killed = killBeats();
        }

        assertThat(killed).hasSize(1);
        Instant broken = expiry(id);
        while (!expiry(id).isAfter(broken)) {
          Thread.onSpinWait(); // the test's deadline ends a wait in vain
        }

        for (Connection connection : taken) {
          connection.close();
        }
        enough.countDown();
      }
    }
    assertThat(tenant.job(id).attempt()).isEqualTo(1);
  }

  private List<Map<String, Object>> killBeats() {
    return tenant.query(
        """
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE application_name = 'holdfast-reserved' AND strpos(query, '{schema}.') > 0
        """);
  }

  @Test
  void a_pool_that_is_too_small_or_too_large_is_refused_by_the_settings_name() {
    for (int size : new int[] {0, LEAST - 1, 1_001}) {
      assertThatThrownBy(() -> new DatabaseConfig("jdbc:postgresql://db/app", size))
          .isInstanceOf(HoldfastException.class)
          .hasMessageContaining("--pool-size")
          .hasMessageContaining("12 to 1000");
    }
  }

  private static Database database() {
    return Database.open(new DatabaseConfig(TestDatabase.shared().jdbcUrl(), LEAST));
  }

  // What the pool has left; a worker's loops keep one of it.
  private static List<Connection> takeAll(Database database) throws SQLException {
    HikariPoolMXBean pool = database.work().unwrap(HikariDataSource.class).getHikariPoolMXBean();
    List<Connection> taken = new ArrayList<>();
    while (pool.getActiveConnections() < WORK) {
      taken.add(database.work().getConnection());
    }
    assertThat(taken).hasSizeGreaterThanOrEqualTo(WORK - 2);
    return taken;
  }

  private Caller caller(HoldfastServer server, Role role) {
    return new Caller(
        server.port().orElseThrow(),
        Optional.of(TestServer.shared().token(role, Optional.of(tenant.name()))),
        Optional.of(tenant.name()));
  }

  private Instant expiry(UUID id) {
    return tenant.job(id).lease().orElseThrow().expiresAt();
  }
}
