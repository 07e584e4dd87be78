package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.executor.ExecutorConfig;
import dev.holdfast.executor.JobExecutors;
import dev.holdfast.server.Caller.Reply;
import dev.holdfast.server.auth.Role;
import dev.holdfast.server.postgres.EmbeddedPostgres;
import dev.holdfast.server.postgres.TestPrograms;
import dev.holdfast.tenant.TenantName;
import dev.holdfast.testkit.Covers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A node that ends while commands run on it takes nothing new to run, and serves until then. */
class DrainingServerTest {

  private static final Set<String> QUEUES = Set.of("default");

  @TempDir Path data;

  @Covers("B13")
  @Test
  @Timeout(180)
  void jobs_are_taken_in_and_stay_queued_while_what_runs_comes_to_its_end() throws Exception {
    Path gate = data.resolve("gate");
    try (EmbeddedPostgres postgres = EmbeddedPostgres.start(TestPrograms.in(data));
        HikariDataSource pool = pool(postgres)) {
      TestServer server = server(pool);
      Caller admin = server.as(Role.ADMIN, TenantName.DEFAULT);
      String running = command(admin, "while [ ! -e " + gate + " ]; do sleep 0.1; done");
      while (!state(admin, running).equals("running")) {
        Thread.onSpinWait();
      }
      Thread end = Thread.ofVirtual().start(server::close);
      Reply ready = admin.get("/readyz");
      while (ready.status() == 200) {
        ready = admin.get("/readyz");
      }

      String late = command(admin, "true");
      String remote = id(admin.post("/api/v1/jobs", "{\"kind\": \"k\", \"queue\": \"remote\"}"));
      Reply claimed =
          admin.post("/api/v1/leases", "{\"worker\": \"far\", \"queues\": [\"remote\"]}");

      assertThat(ready.status()).isEqualTo(503);
      assertThat(ready.code()).isEqualTo("DRAINING");
      assertThat(admin.get("/healthz").status()).isEqualTo(200);
      assertThat(state(admin, running)).isEqualTo("running");
      assertThat(claimed.json().at("/leases/0/job/id").asString()).isEqualTo(remote);

      Files.createFile(gate);
      end.join();

      try (TestServer next = TestServer.start(TestServer.config(), pool)) {
        Caller later = next.as(Role.VIEWER, TenantName.DEFAULT);
        assertThat(List.of(state(later, running), state(later, late)))
            .containsExactly("succeeded", "queued");
      }
    }
  }

  @Test
  @Timeout(180)
  void whoever_is_interrupted_while_it_closes_a_server_has_what_runs_stopped_and_given_back()
      throws Exception {
    AtomicBoolean stillInterrupted = new AtomicBoolean();
    try (EmbeddedPostgres postgres = EmbeddedPostgres.start(TestPrograms.in(data));
        HikariDataSource pool = pool(postgres)) {
      TestServer server = server(pool);
      Caller admin = server.as(Role.ADMIN, TenantName.DEFAULT);
      String running = command(admin, "sleep 3600");
      while (!state(admin, running).equals("running")) {
        Thread.onSpinWait();
      }

      Thread end =
          Thread.ofVirtual()
              .start(() -> {
                server.close();
                stillInterrupted.set(Thread.currentThread().isInterrupted());
              });
      while (admin.get("/readyz").status() == 200) {
        Thread.onSpinWait();
      }
      end.interrupt();
      end.join();

      assertThat(stillInterrupted).isTrue();
      try (TestServer next = TestServer.start(TestServer.config(), pool)) {
        assertThat(state(next.as(Role.VIEWER, TenantName.DEFAULT), running)).isEqualTo("queued");
      }
    }
  }

  private TestServer server(HikariDataSource pool) {
    return TestServer.start(
        ServerConfig.defaults(data)
            .withAddress("127.0.0.1", 0)
            .withRoles(Set.of(ServerRole.WEB, ServerRole.WORKER))
            .withExecutors(
                new ExecutorSettings(
                    JobExecutors.USUAL, QUEUES, ExecutorConfig.DEFAULTS, JobExecutors.USUAL)),
        pool);
  }

  private static HikariDataSource pool(EmbeddedPostgres postgres) {
    HikariConfig config = new HikariConfig();
    config.setDataSource(postgres.dataSource());
    config.setMaximumPoolSize(15);
    return new HikariDataSource(config);
  }

  private static String command(Caller admin, String script) {
    return id(
        admin.post(
            "/api/v1/jobs",
            "{\"kind\": \"process\", \"args\": {\"argv\": [\"/bin/sh\", \"-c\", \"%s\"]}}"
                .formatted(script)));
  }

  private static String id(Reply created) {
    assertThat(created.status()).isEqualTo(201);
    return created.json().path("id").asString();
  }

  private static String state(Caller caller, String id) {
    return caller.get("/api/v1/jobs/" + id).json().path("state").asString();
  }
}
