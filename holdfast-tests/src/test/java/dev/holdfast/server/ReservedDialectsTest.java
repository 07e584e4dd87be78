package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.HikariPoolMXBean;
import dev.holdfast.job.JobState;
import dev.holdfast.job.NewJob;
import dev.holdfast.server.Caller.Reply;
import dev.holdfast.server.auth.Role;
import dev.holdfast.server.database.Database;
import dev.holdfast.server.database.DatabaseConfig;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.testkit.TestTenant;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Whatever floods a node, who speaks a dialect is heard as well: what renews a lease, or says that
 * somebody is there, has connections that nobody else takes.
 */
class ReservedDialectsTest {

  private static final int LEAST = 12;
  private static final int WORK = 6;

  @RegisterExtension final TestTenant tenant = new TestTenant();

  private final List<Connection> taken = new ArrayList<>();
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private Database database;
  private HoldfastServer server;
  private Caller worker;

  @BeforeEach
  void start() {
    database = Database.open(new DatabaseConfig(TestDatabase.shared().jdbcUrl(), LEAST));
    server = HoldfastServer.start(TestServer.config(), database);
    worker = caller(Role.WORKER);
  }

  @AfterEach
  void stop() throws Exception {
    letGo();
    threads.close();
    server.close();
    database.close();
    assertThat(tenant.invariants().check()).isEmpty();
  }

  @Test
  void an_agent_that_beats_is_heard_and_answered() throws Exception {
    beat();
    takeAll();
    tenant.advance(Duration.ofMinutes(1));
    double before = seenAt();

    assertThat(beat().status()).isEqualTo(200);

    assertThat(seenAt()).isGreaterThan(before);
  }

  @Test
  void an_agent_that_asks_for_a_job_is_heard_before_there_is_one_to_give() throws Exception {
    beat();
    takeAll();
    tenant.advance(Duration.ofMinutes(1));
    double before = seenAt();

    Future<Reply> asked = send(this::next);

    await(() -> seenAt() > before);
    letGo();
    assertThat(asked.get().status()).isEqualTo(204);
  }

  @Test
  void what_an_agent_says_of_its_job_renews_the_lease_before_its_files_are_written()
      throws Exception {
    UUID id = simulation();
    next();
    says(id, "running");
    takeAll();
    Instant before = expiry(id);
    tenant.advance(Duration.ofMinutes(1));

    Future<Reply> said = send(() -> says(id, "running"));

    await(() -> expiry(id).isAfter(before));
    letGo();
    assertThat(said.get().status()).isEqualTo(200);
  }

  @Test
  void an_agents_word_that_it_has_begun_is_kept() throws Exception {
    UUID id = simulation();
    next();
    takeAll();

    Future<Reply> said = send(() -> says(id, "running"));

    await(() -> tenant.job(id).state() == JobState.RUNNING);
    letGo();
    assertThat(said.get().status()).isEqualTo(200);
  }

  @Test
  void a_report_that_only_goes_on_is_answered() throws Exception {
    UUID id = pulled();
    takeAll();
    Instant before = expiry(id);
    tenant.advance(Duration.ofMinutes(1));

    Reply reply = report(id, ", \"cursor\": \"page 3\"");

    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
    assertThat(expiry(id)).isAfter(before);
    assertThat(tenant.job(id).progress().cursor()).contains("page 3");
  }

  @Test
  void so_is_one_about_a_job_whose_lease_is_as_long_as_a_setting_says() throws Exception {
    UUID id = pulled("leads");
    takeAll();
    Instant before = expiry(id);
    tenant.advance(Duration.ofMinutes(1));

    Reply reply = report(id, ", \"cursor\": \"page 3\"");

    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
    assertThat(expiry(id)).isAfter(before);
  }

  @Test
  void a_report_with_results_renews_its_lease_before_they_are_stored() throws Exception {
    UUID id = pulled();
    takeAll();
    Instant before = expiry(id);
    tenant.advance(Duration.ofMinutes(1));

    Future<Reply> reply =
        send(() -> report(id, ", \"items\": [{\"key\": \"a\"}], \"extend_lease_sec\": 600"));

    await(() -> expiry(id).isAfter(before));
    letGo();
    assertThat(reply.get().json().path("added").asInt()).isEqualTo(1);
  }

  @Test
  void a_repeated_report_still_changes_nothing() throws Exception {
    UUID id = pulled();
    String more = ", \"items\": [{\"key\": \"a\"}], \"idempotency_key\": \"k\"";
    report(id, more);
    Instant before = expiry(id);
    tenant.advance(Duration.ofMinutes(1));

    Reply again = report(id, more);

    assertThat(again.json().path("idempotent").asBoolean()).isTrue();
    assertThat(expiry(id)).isEqualTo(before);
  }

  @Test
  void a_signature_is_looked_at_without_a_wait() throws Exception {
    String secret = "a secret of many letters";
    caller(Role.ADMIN).put("/api/v1/pull-secret", "{\"secret\": \"" + secret + "\"}");
    UUID id = pulled();
    takeAll();

    String path = "/t/" + tenant.name().value() + "/api/report_results";
    String body = "{\"job_id\": \"%s\", \"attempt_id\": %d}".formatted(id, tenant.job(id).fence());
    long now = Instant.now().getEpochSecond();
    Reply reply =
        PlainHttp.at("http://127.0.0.1:" + worker.port())
            .with(PullSignaturesTest.headers("POST", path, body, secret, now))
            .send("POST", path, Optional.of(body));

    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
  }

  private Caller caller(Role role) {
    return new Caller(
        server.port().orElseThrow(),
        Optional.of(TestServer.shared().token(role, Optional.of(tenant.name()))),
        Optional.of(tenant.name()));
  }

  private Reply beat() {
    return worker.post("/api/agent/heartbeat", "{\"worker_id\": \"a1\"}");
  }

  private Reply next() {
    return worker.post("/api/agent/next-job", "{\"worker_id\": \"a1\"}");
  }

  private Reply says(UUID id, String status) {
    return worker.post(
        "/api/agent/job-status",
        "{\"job_id\": \"%s\", \"status\": \"%s\", \"worker_id\": \"a1\"}".formatted(id, status));
  }

  private UUID simulation() {
    return UUID.fromString(
        caller(Role.SUBMITTER)
            .post("/run-simulation", "{\"config\": {\"experiment\": {\"name\": \"e\"}}}")
            .json()
            .path("job_id")
            .asString());
  }

  private UUID pulled() {
    return pulled("pull");
  }

  private UUID pulled(String queue) {
    UUID id = tenant.jobs().enqueue(NewJob.of("scrape", 1).withQueue(queue)).id();
    assertThat(worker.get("/api/pull_job?queue=" + queue).text()).contains(id.toString());
    return id;
  }

  private Reply report(UUID id, String more) {
    return worker.post(
        "/api/report_results",
        "{\"job_id\": \"%s\", \"attempt_id\": %d%s}".formatted(id, tenant.job(id).fence(), more));
  }

  private Future<Reply> send(Callable<Reply> request) {
    return threads.submit(request);
  }

  private double seenAt() {
    Object at =
        tenant
            .query(
                """
                SELECT extract(epoch FROM seen_at)::float8 AS at
                  FROM {schema}.agent
                 WHERE name = 'a1'
                """)
            .getFirst()
            .get("at");
    return (double) Objects.requireNonNull(at);
  }

  private Instant expiry(UUID id) {
    return tenant.job(id).lease().orElseThrow().expiresAt();
  }

  /** The test's own timeout ends a wait in vain. */
  private static void await(Supplier<Boolean> condition) {
    while (!condition.get()) {
      Thread.onSpinWait();
    }
  }

  private void takeAll() throws SQLException {
    HikariPoolMXBean pool = database.work().unwrap(HikariDataSource.class).getHikariPoolMXBean();
    while (pool.getActiveConnections() < WORK) {
      taken.add(database.work().getConnection());
    }
    assertThat(taken).hasSizeGreaterThanOrEqualTo(WORK - 2);
  }

  private void letGo() throws SQLException {
    for (Connection connection : taken) {
      connection.close();
    }
    taken.clear();
  }
}
