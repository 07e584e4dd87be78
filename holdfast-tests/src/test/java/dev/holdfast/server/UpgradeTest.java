package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.Holdfast;
import dev.holdfast.api.HoldfastClient;
import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Kind;
import dev.holdfast.server.Caller.Reply;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.worker.Worker;
import dev.holdfast.worker.WorkerBuilder;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The rule of UPGRADING.md: what the next version does to the tables, this one works with, unless
 * it says that it broke something. Each test has a database of its own, and plays the next version.
 */
class UpgradeTest {

  private static final AtomicInteger NUMBER = new AtomicInteger();
  private static final Kind<String> KIND = Kind.of("upgrade", String.class);

  // What a version may do without breaking the one before it.
  private static final String ALLOWED =
      """
      ALTER TABLE holdfast_default.job ADD COLUMN next_thing text;
      ALTER TABLE holdfast_default.job_done ADD COLUMN next_thing text NOT NULL DEFAULT 'x';
      CREATE TABLE holdfast_default.next_table (id bigint PRIMARY KEY);
      CREATE INDEX next_index ON holdfast_default.job (created_at);
      INSERT INTO holdfast_default.migration VALUES (99, 'next');
      ALTER TABLE holdfast.worker ADD COLUMN next_thing integer;
      INSERT INTO holdfast.migration VALUES (99, 'next');
      """;

  private static final String BREAKING =
      """
      INSERT INTO holdfast_default.migration VALUES (99, 'next', true);
      INSERT INTO holdfast.migration VALUES (99, 'next', true);
      """;

  @TempDir Path directory;
  private final String name = "upgrade_" + NUMBER.incrementAndGet();
  private final BlockingQueue<String> done = new LinkedBlockingQueue<>();
  private HikariDataSource pool;

  @BeforeEach
  void createDatabase() throws SQLException {
    try (Connection connection = TestDatabase.shared().dataSource().getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE DATABASE " + name);
    }
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(TestDatabase.shared().jdbcUrl().replaceFirst("(//[^/]+/)[^?]*", "$1" + name));
    config.setMaximumPoolSize(20);
    pool = new HikariDataSource(config);
    Holdfast.on(pool).migrate();
  }

  @AfterEach
  void dropDatabase() throws SQLException {
    pool.close();
    try (Connection connection = TestDatabase.shared().dataSource().getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute("DROP DATABASE " + name + " WITH (FORCE)");
    }
  }

  @Test
  void workers_agents_and_servers_go_on_when_the_next_version_has_migrated_under_them()
      throws Exception {
    try (HoldfastServer server = serve()) {
      HoldfastClient client = client(server);
      try (Worker worker = working(Holdfast.on(pool).worker(), "library");
          Worker agent = working(client.worker(), "agent")) {
        UUID before = client.enqueue(KIND.job("before")).id();
        await("before");

        execute(ALLOWED);

        UUID after = client.enqueue(KIND.job("after")).id();
        await("after");
        assertThat(state(client, before)).isEqualTo(JobState.SUCCEEDED);
        assertThat(state(client, after)).isEqualTo(JobState.SUCCEEDED);
        assertThat(worker.name()).isNotEqualTo(agent.name());
      }
      assertThat(get(server, "/readyz").status()).isEqualTo(200);
    }
  }

  @Test
  void workers_and_servers_of_this_version_still_start_on_the_next_ones_tables() throws Exception {
    execute(ALLOWED);

    try (HoldfastServer server = serve();
        Worker worker = working(Holdfast.on(pool).worker(), "library")) {
      client(server).enqueue(KIND.job("started late"));

      await("started late");
      assertThat(Holdfast.on(pool).invariants().check()).isEmpty();
      assertThat(worker.name()).contains("library");
    }
  }

  @Test
  void on_tables_that_are_broken_for_them_neither_starts_and_both_say_why() throws Exception {
    execute(BREAKING);

    refused(() -> Holdfast.on(pool).worker(), "upgrade Holdfast");
    refused(this::serve, "upgrade Holdfast");
    refused(() -> Holdfast.on(pool).migrate(), "knows");
  }

  @Test
  void a_server_whose_tables_were_broken_under_it_is_no_longer_ready_and_says_why()
      throws Exception {
    try (HoldfastServer server = serve()) {
      int before = get(server, "/readyz").status();

      execute(BREAKING);

      Reply after = get(server, "/readyz");
      while (after.status() == 200) { // what was found is kept for a second
        after = get(server, "/readyz");
      }
      assertThat(before).isEqualTo(200);
      assertThat(after.status()).isEqualTo(503);
      assertThat(after.code()).isEqualTo("SCHEMA_MISMATCH");
      assertThat(get(server, "/healthz").status()).isEqualTo(200);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"holdfast_default", "holdfast"})
  void a_worker_on_tables_that_are_not_migrated_yet_says_what_to_run_first(String schema)
      throws Exception {
    execute("DELETE FROM " + schema + ".migration WHERE version > 1");

    refused(() -> Holdfast.on(pool).worker(), "run migrate() first");
  }

  @Test
  void a_client_that_was_made_for_another_api_hears_who_has_to_be_upgraded() throws Exception {
    try (HoldfastServer server = serve()) {
      assertThat(ask(server, "1").statusCode()).isEqualTo(200);
      assertThat(ask(server, "1").headers().firstValue("X-Holdfast-Api")).contains("1");
      assertThat(ask(server, "2").body()).contains("upgrade the server first");
      assertThat(ask(server, "2").statusCode()).isEqualTo(400);
      assertThat(ask(server, "0").body()).contains("upgrade the client");
      assertThat(ask(server, "one").statusCode()).isEqualTo(400);
    }
  }

  private static void refused(
      org.assertj.core.api.ThrowableAssert.ThrowingCallable act, String remedy) {
    assertThatExceptionOfType(HoldfastException.class)
        .isThrownBy(act)
        .withMessageContaining(remedy)
        .satisfies(refusal -> assertThat(refusal.code()).isEqualTo(ErrorCode.SCHEMA_MISMATCH));
  }

  private HoldfastServer serve() {
    return HoldfastServer.start(
        ServerConfig.defaults(directory)
            .withAddress("127.0.0.1", 0)
            .withRoles(Set.of(ServerRole.WEB)),
        pool,
        Map.of());
  }

  private HoldfastClient client(HoldfastServer server) throws IOException {
    return HoldfastClient.at("http://127.0.0.1:" + server.port().orElseThrow())
        .withToken(TestServer.tokenIn(directory));
  }

  private Worker working(WorkerBuilder builder, String name) {
    return builder
        .configure(config -> config.withName(name))
        .handle(KIND, (said, job) -> done.add(said))
        .start();
  }

  private void await(String said) throws InterruptedException {
    assertThat(done.poll(1, TimeUnit.MINUTES)).isEqualTo(said);
  }

  // Its handler is through; that it is recorded follows.
  private static JobState state(HoldfastClient client, UUID id) {
    while (!client.get(id).orElseThrow().state().isFinished()) {
      Thread.onSpinWait();
    }
    return client.get(id).orElseThrow().state();
  }

  private static Reply get(HoldfastServer server, String path) {
    return new Caller(server.port().orElseThrow(), Optional.empty(), Optional.empty()).get(path);
  }

  private HttpResponse<String> ask(HoldfastServer server, String version) throws Exception {
    try (HttpClient http = HttpClient.newHttpClient()) {
      return http.send(
          HttpRequest.newBuilder(
                  URI.create(
                      "http://127.0.0.1:%d/api/v1/jobs".formatted(server.port().orElseThrow())))
              .header("Authorization", "Bearer " + TestServer.tokenIn(directory))
              .header("X-Holdfast-Api", version)
              .build(),
          HttpResponse.BodyHandlers.ofString());
    }
  }

  private void execute(String sql) throws SQLException {
    try (Connection connection = pool.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }
}
