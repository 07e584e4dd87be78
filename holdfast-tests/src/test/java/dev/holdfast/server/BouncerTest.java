package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.Holdfast;
import dev.holdfast.api.HoldfastClient;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Kind;
import dev.holdfast.server.auth.Role;
import dev.holdfast.server.database.Database;
import dev.holdfast.server.database.DatabaseConfig;
import dev.holdfast.tenant.Pooling;
import dev.holdfast.testkit.Bouncer;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.testkit.TestTenant;
import dev.holdfast.worker.Worker;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.jdbi.v3.core.ConnectionFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Behind a pooler in transaction mode everything works, or says at start what it needs. */
class BouncerTest {

  private static final Kind<Integer> COUNT = Kind.of("count", Integer.class);
  private static final int JOBS = 100;

  @TempDir private static Path directory;
  private static Bouncer bouncer;

  @RegisterExtension final TestTenant tenant = new TestTenant();

  @BeforeAll
  static void start() throws Exception {
    bouncer = Bouncer.start(directory, TestDatabase.shared().jdbcUrl(), "transaction", 8);
  }

  @AfterAll
  static void stop() throws Exception {
    bouncer.close();
  }

  @Test
  void a_server_and_workers_run_through_it() throws Exception {
    Semaphore done = new Semaphore(0);
    try (Database database = Database.open(new DatabaseConfig(bouncer.jdbcUrl(), 20));
        HoldfastServer server = HoldfastServer.start(TestServer.config(), database);
        Worker here =
            database
                .holdfast()
                .worker(tenant.name())
                .configure(config -> config.withConcurrency(8))
                .handle(COUNT, (n, job) -> done.release())
                .start()) {
      HoldfastClient client = client(server);
      try (Worker there =
          client
              .worker()
              .configure(config -> config.withQueues("remote"))
              .handle(COUNT, (n, job) -> done.release())
              .start()) {
        List<UUID> ids = new ArrayList<>();
        for (int i = 0; i < JOBS; i++) {
          ids.add(client.enqueue(COUNT.job(i).withQueue(i % 2 == 0 ? "default" : "remote")).id());
        }
        done.acquire(JOBS);
        ids.forEach(this::awaitSuccess);
      }
    }
    assertThat(tenant.invariants().check()).isEmpty();
  }

  @Test
  void without_prepared_statements_switched_off_the_start_is_refused_and_says_so() {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(bouncer.jdbcUrl());
    config.setMaximumPoolSize(5);
    try (HikariDataSource pool = new HikariDataSource(config)) {
      assertThatThrownBy(() -> Holdfast.on(pool).migrate())
          .isInstanceOf(HoldfastException.class)
          .hasMessageContaining("transaction mode")
          .hasMessageContaining("prepareThreshold=0");
    }
  }

  @Test
  void with_a_direct_address_to_listen_on_workers_are_woken_at_once() throws Exception {
    DatabaseConfig config =
        new DatabaseConfig(bouncer.jdbcUrl(), 20).withListenUrl(TestDatabase.shared().jdbcUrl());
    try (Database database = Database.open(config)) {
      Holdfast holdfast = database.holdfast();
      CountDownLatch heard = new CountDownLatch(1);
      try (AutoCloseable ear = holdfast.listen();
          AutoCloseable ring =
              holdfast.onWork(name -> {
                if (name.equals(tenant.name().value())) {
                  heard.countDown();
                }
              })) {
        while (heard.getCount() > 0) { // until it listens; what came before that is not heard
          tenant.jobs().enqueue(COUNT.job(1));
          boolean unused = heard.await(50, java.util.concurrent.TimeUnit.MILLISECONDS);
        }
      }
    }
  }

  @Test
  void what_stands_before_a_database_is_found_out() throws Exception {
    assertThat(pooling(bouncer.jdbcUrl())).isEqualTo(new Pooling(true, false));
    assertThat(pooling(TestDatabase.shared().jdbcUrl())).isEqualTo(new Pooling(false, true));
    try (Bouncer session = sessionBouncer("session")) {
      assertThat(pooling(session.jdbcUrl())).isEqualTo(new Pooling(false, true));
    }
  }

  @Test
  void a_connection_that_breaks_while_it_is_asked_is_given_back_all_the_same() throws Exception {
    AtomicInteger opened = new AtomicInteger();
    AtomicInteger closed = new AtomicInteger();
    try (Bouncer session = sessionBouncer("breaking")) {
      ConnectionFactory pool =
          new ConnectionFactory() {
            @Override
            public Connection openConnection() throws SQLException {
              Connection connection = DriverManager.getConnection(session.jdbcUrl());
              if (opened.incrementAndGet() > 1) {
                connection.close(); // the one that ours is compared with
              }
              return connection;
            }

            @Override
            public void closeConnection(Connection connection) throws SQLException {
              closed.incrementAndGet();
              connection.close();
            }
          };

      assertThat(Pooling.of(pool)).isEqualTo(new Pooling(false, true));
    }

    assertThat(opened).hasValue(2);
    assertThat(closed).hasValue(2);
  }

  private static Bouncer sessionBouncer(String name) throws Exception {
    Path own = Files.createDirectory(directory.resolve(name));
    return Bouncer.start(own, TestDatabase.shared().jdbcUrl(), "session", 8);
  }

  private static Pooling pooling(String jdbcUrl) {
    return Pooling.of(() -> DriverManager.getConnection(jdbcUrl));
  }

  private HoldfastClient client(HoldfastServer server) {
    String token = TestServer.shared().token(Role.OPERATOR, Optional.of(tenant.name()));
    return HoldfastClient.at("http://127.0.0.1:" + server.port().orElseThrow())
        .withToken(token)
        .withTenant(tenant.name());
  }

  private void awaitSuccess(UUID id) {
    while (!tenant.job(id).state().isFinished()) {
      Thread.onSpinWait();
    }
    assertThat(tenant.job(id).state()).isEqualTo(JobState.SUCCEEDED);
  }
}
