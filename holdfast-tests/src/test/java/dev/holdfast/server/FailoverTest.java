package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Holdfast;
import dev.holdfast.job.Job;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Kind;
import dev.holdfast.server.database.Database;
import dev.holdfast.server.database.DatabaseConfig;
import dev.holdfast.server.postgres.Cluster;
import dev.holdfast.tenant.TenantName;
import dev.holdfast.worker.Worker;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The database may end, come back, or change places: what was acknowledged goes on in seconds. */
class FailoverTest {

  private static final Kind<Integer> COUNT = Kind.of("count", Integer.class);
  private static final Kind<Integer> LONG = Kind.of("long", Integer.class);
  private static final int POOL = 20;
  private static final Duration SECONDS = Duration.ofSeconds(15);

  @TempDir Path directory;

  @Test
  void a_database_that_crashes_and_comes_back_costs_nobody_their_lease_or_their_jobs()
      throws Exception {
    CountDownLatch began = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    try (Cluster cluster = Cluster.start(directory);
        Database database = Database.open(new DatabaseConfig(cluster.jdbcUrl(), POOL));
        HoldfastServer server = server(database)) {
      Holdfast holdfast = database.holdfast();
      Semaphore done = new Semaphore(0);
      try (Worker worker =
              holdfast
                  .worker()
                  .handle(COUNT, (n, job) -> done.release())
                  .handle(
                      LONG,
                      (n, job) -> {
                        began.countDown();
                        goOn.await();
                      })
                  .start();
          Submitter submitter = new Submitter(server, token())) {
        UUID running = holdfast.jobs().enqueue(LONG.job(1)).id();
        began.await();
        submitter.start();
        done.acquire(20);

        cluster.restart();
        long back = System.nanoTime();
        done.drainPermits();
        submitter.acknowledge(20); // enqueued after it came back
        done.acquire(20);
        goOn.countDown();
        List<UUID> acknowledged = submitter.end();
        awaitAll(holdfast, acknowledged);

        assertThat(Duration.ofNanos(System.nanoTime() - back)).isLessThan(SECONDS);
        Job kept = awaitEnd(holdfast, running);
        assertThat(kept.state()).isEqualTo(JobState.SUCCEEDED);
        assertThat(kept.attempt()).as("attempts of the one that ran on").isEqualTo(1);
        awaitListening(cluster, 2); // the server's and the worker's Holdfast
        assertThat(holdfast.invariants().check()).isEmpty();
      }
    }
  }

  @Test
  void after_a_failover_claims_go_on_at_the_new_primary_in_seconds_and_nothing_is_lost()
      throws Exception {
    try (Cluster first = Cluster.start(directory);
        Cluster second = first.standby(directory.resolve("standby"))) {
      first.execute("ALTER SYSTEM SET synchronous_standby_names = '*'");
      first.execute("SELECT pg_reload_conf()");
      // As a person writes it: two hosts, and not a word about which of them.
      String both =
          "jdbc:postgresql://127.0.0.1:%d,127.0.0.1:%d/postgres?user=postgres"
              .formatted(first.port(), second.port());
      try (Database database = Database.open(new DatabaseConfig(both, POOL));
          HoldfastServer server = server(database)) {
        Holdfast holdfast = database.holdfast();
        Semaphore done = new Semaphore(0);
        try (Worker worker = holdfast.worker().handle(COUNT, (n, job) -> done.release()).start();
            Submitter submitter = new Submitter(server, token())) {
          submitter.start();
          done.acquire(50);

          demote(first, second);
          assertThat(second.ask("SELECT pg_promote()")).isEqualTo("t");
          long promoted = System.nanoTime();
          done.drainPermits();
          submitter.acknowledge(20);
          done.acquire(20);
          Duration took = Duration.ofNanos(System.nanoTime() - promoted);

          first.crash(); // and now it is gone, too
          submitter.acknowledge(20);
          List<UUID> acknowledged = submitter.end();
          awaitAll(holdfast, acknowledged);

          assertThat(took).isLessThan(SECONDS);
          assertThat(second.ask("SELECT count(*) FROM holdfast_default.job_all"))
              .as("jobs at the new primary, of which one may have lost its answer")
              .isBetween(
                  String.valueOf(acknowledged.size()), String.valueOf(acknowledged.size() + 1));
          assertThat(holdfast.invariants().check()).isEmpty();
        }
      }
    }
  }

  // Its connections stay: what a switch-over by storage, or by a careful operator, looks like.
  private static void demote(Cluster first, Cluster second) throws SQLException {
    first.execute("ALTER SYSTEM SET default_transaction_read_only = on");
    first.execute("SELECT pg_reload_conf()");
    while (!first.ask("SHOW default_transaction_read_only").equals("on")) {
      Thread.onSpinWait();
    }
    String written = first.ask("SELECT pg_current_wal_lsn()");
    while (second.ask("SELECT pg_last_wal_replay_lsn() >= '" + written + "'::pg_lsn").equals("f")) {
      Thread.onSpinWait();
    }
  }

  private HoldfastServer server(Database database) {
    ServerConfig config =
        ServerConfig.defaults(directory)
            .withAddress("127.0.0.1", 0)
            .withRoles(Set.of(ServerRole.WEB, ServerRole.SCHEDULER));
    return HoldfastServer.start(config, database);
  }

  private String token() throws IOException {
    return TestServer.tokenIn(directory);
  }

  private static void awaitAll(Holdfast holdfast, List<UUID> ids) {
    assertThat(ids).isNotEmpty();
    ids.forEach(id -> assertThat(awaitEnd(holdfast, id).state()).isEqualTo(JobState.SUCCEEDED));
  }

  // Who listens tries again after a moment. Within the test's own deadline.
  private static void awaitListening(Cluster cluster, int connections) throws SQLException {
    String listening =
        "SELECT count(*) = %d FROM pg_stat_activity WHERE query LIKE 'LISTEN%%'"
            .formatted(connections);
    while (!cluster.ask(listening).equals("t")) {
      Thread.onSpinWait();
    }
  }

  // Within the test's own deadline.
  private static Job awaitEnd(Holdfast holdfast, UUID id) {
    Job job = holdfast.jobs().get(id).orElseThrow(() -> new AssertionError("lost: " + id));
    while (!job.state().isFinished()) {
      Thread.onSpinWait();
      job = holdfast.jobs().get(id).orElseThrow();
    }
    return job;
  }

  /** Enqueues over HTTP, again and again, and remembers what the server said that it has. */
  private static final class Submitter implements AutoCloseable {

    private final Caller caller;
    private final ConcurrentLinkedQueue<UUID> acknowledged = new ConcurrentLinkedQueue<>();
    private final Semaphore news = new Semaphore(0);
    private final AtomicBoolean over = new AtomicBoolean();
    private Thread thread = new Thread(() -> {});

    Submitter(HoldfastServer server, String token) {
      this.caller =
          new Caller(
              server.port().orElseThrow(), Optional.of(token), Optional.of(TenantName.DEFAULT));
    }

    void start() {
      thread = Thread.ofVirtual().start(this::submit);
    }

    private void submit() {
      while (!over.get()) {
        UUID id = UUID.randomUUID();
        int status =
            caller
                .post(
                    "/api/v1/jobs",
                    "{\"id\": \"%s\", \"kind\": \"count\", \"args\": 1}".formatted(id))
                .status();
        if (status == 201) {
          acknowledged.add(id);
          news.release();
        } else {
          assertThat(status).as("while the database is away").isEqualTo(503);
        }
      }
    }

    /** Until so many more were acknowledged. */
    void acknowledge(int count) throws InterruptedException {
      news.drainPermits();
      news.acquire(count);
    }

    List<UUID> end() throws InterruptedException {
      over.set(true);
      thread.join();
      return new ArrayList<>(acknowledged);
    }

    @Override
    public void close() throws InterruptedException {
      over.set(true);
      thread.join();
    }
  }
}
