package dev.holdfast.database;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.Holdfast;
import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Job;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Kind;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.lease.ClaimRequest;
import dev.holdfast.lease.Extension;
import dev.holdfast.lease.FinishReply;
import dev.holdfast.lease.LanePositions;
import dev.holdfast.lease.Lease;
import dev.holdfast.lease.PgLeases;
import dev.holdfast.reap.Outages;
import dev.holdfast.reap.Reaper;
import dev.holdfast.reap.Reapers;
import dev.holdfast.server.postgres.Cluster;
import dev.holdfast.tenant.Tenant;
import dev.holdfast.tenant.TenantName;
import dev.holdfast.worker.JobContext;
import dev.holdfast.worker.Worker;
import dev.holdfast.worker.WorkerListener;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The database is away for longer than leases last: nobody loses a job that nobody could renew. */
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class OutageTest {

  private static final Kind<Integer> COUNT = Kind.of("count", Integer.class);
  private static final Duration PERIOD = Duration.ofSeconds(5); // a reaper's, as it is wired
  private static final Duration LONG = Duration.ofSeconds(30);
  private static final Duration SHORT = Duration.ofSeconds(2);

  // Zero: the database finds its clock moved on when it comes back. Otherwise time really passes.
  private static final Duration REALLY =
      Duration.ofSeconds(Integer.getInteger("holdfast.outage.seconds", 0));

  @TempDir Path directory;
  private Cluster cluster;
  private HikariDataSource pool;
  private Holdfast holdfast;
  private Tenant tenant;

  @BeforeEach
  void start() throws Exception {
    cluster = Cluster.start(directory);
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(cluster.jdbcUrl());
    config.setMaximumPoolSize(8);
    pool = new HikariDataSource(config);
    holdfast = Holdfast.on(pool).migrate();
    tenant = holdfast.tenants().tenant(TenantName.DEFAULT);
  }

  @AfterEach
  void stop() {
    pool.close();
    cluster.close();
  }

  @Test
  void a_job_that_ended_while_the_database_was_away_has_ended_however_long_that_was()
      throws Exception {
    CountDownLatch began = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    BlockingQueue<FinishReply> replies = new LinkedBlockingQueue<>();
    Runnable reaping = reaping();
    UUID id = enqueue(LONG);
    try (Worker worker =
        holdfast
            .worker()
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
            .start()) {
      began.await();
      reaping.run();

      cluster.stop("immediate");
      goOn.countDown();
      comeBackLater();
      reaping.run(); // sooner than whoever has waited for the database to come back

      assertThat(replies.take()).isEqualTo(new FinishReply.Recorded(JobState.SUCCEEDED));
    }
    assertThat(job(id).state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(job(id).attempt()).isEqualTo(1);
    assertThat(holdfast.invariants().check()).isEmpty();
  }

  @Test
  void a_lease_can_be_renewed_when_the_database_comes_back_however_long_it_was_away()
      throws Exception {
    Runnable reaping = reaping();
    enqueue(LONG);
    PgLeases leases = leases();
    List<Lease> held = leases.claim(ClaimRequest.of("w", Set.of("default"), 1)).leases();
    reaping.run();

    cluster.stop("immediate");
    comeBackLater();
    reaping.run();

    assertThat(leases.extend(held))
        .containsExactly(new Extension(held.getFirst().key(), Extension.Status.EXTENDED));
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void a_lease_can_be_renewed_when_the_database_stood_still_for_longer_than_the_lease(
      boolean reaperStartsThen) throws Exception {
    Runnable reaping = reaping();
    enqueue(SHORT);
    PgLeases leases = leases();
    List<Lease> held = leases.claim(ClaimRequest.of("w", Set.of("default"), 1)).leases();
    reaping.run();
    long frozen = System.nanoTime();

    cluster.freeze();
    // Twice as long as the reaper's rounds are apart, or it may have noticed nothing.
    Waiting.until(frozen, PERIOD.multipliedBy(2));
    cluster.thaw();
    (reaperStartsThen ? reaping() : reaping).run();

    assertThat(leases.extend(held))
        .containsExactly(new Extension(held.getFirst().key(), Extension.Status.EXTENDED));
  }

  @Test
  void a_handler_that_stopped_itself_in_an_outage_writes_nothing_when_the_database_is_back()
      throws Exception {
    CountDownLatch began = new CountDownLatch(1);
    CountDownLatch fenced = new CountDownLatch(1);
    CountDownLatch back = new CountDownLatch(1);
    BlockingQueue<String> cursors = new LinkedBlockingQueue<>();
    UUID id = enqueue(SHORT);
    cluster.execute("CREATE TABLE effect (n integer)");
    try (Worker worker =
        holdfast
            .worker()
            .handle(
                COUNT,
                (n, job) -> {
                  if (job.attempt() > 1) {
                    cursors.add(job.lastCursor().orElse(""));
                    return;
                  }
                  job.checkpoint("before");
                  began.countDown();
                  try {
                    new CountDownLatch(1).await();
                  } catch (InterruptedException e) {
                    fenced.countDown();
                    back.await();
                    writeInVain(job);
                    throw e;
                  }
                })
            .start()) {
      began.await();

      cluster.stop("immediate");
      fenced.await(); // by its own clock, and before the lease ends
      cluster.start();
      pool.getHikariPoolMXBean().softEvictConnections();
      back.countDown();

      assertThat(cursors.take()).isEqualTo("before");
    }
    assertThat(job(id).state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(cluster.ask("SELECT count(*) FROM effect")).isEqualTo("0");
    assertThat(holdfast.invariants().check()).isEmpty();
  }

  private static void writeInVain(JobContext job) {
    assertThatThrownBy(() -> job.checkpoint("after"))
        .isInstanceOfSatisfying(
            HoldfastException.class,
            refused -> assertThat(refused.code()).isEqualTo(ErrorCode.LEASE_LOST));
    assertThatThrownBy(() ->
            job.inTransaction(connection -> {
              try (var statement = connection.createStatement()) {
                statement.execute("INSERT INTO effect VALUES (1)");
              }
              return job.payload("done");
            }))
        .isInstanceOfSatisfying(
            HoldfastException.class,
            refused -> assertThat(refused.code()).isEqualTo(ErrorCode.LEASE_LOST));
  }

  private void comeBackLater() throws Exception {
    Waiting.until(System.nanoTime(), REALLY);
    cluster.start();
    pool.getHikariPoolMXBean().softEvictConnections(); // they are of before the outage
    if (REALLY.isZero()) {
      cluster.execute(
          """
          CREATE OR REPLACE FUNCTION holdfast_default.clock() RETURNS timestamptz
            LANGUAGE sql STABLE PARALLEL SAFE
            AS 'SELECT statement_timestamp() + interval ''1 hour'''
          """);
    }
  }

  private UUID enqueue(Duration lease) {
    return holdfast
        .jobs()
        .enqueue(COUNT.job(1).withPolicy(PolicyOverrides.NONE.withLeaseLength(lease)))
        .id();
  }

  private PgLeases leases() {
    return new PgLeases(
        tenant,
        Set::of,
        new LanePositions(System::nanoTime),
        RandomGenerator.getDefault(),
        () -> {});
  }

  /** A round of reapers, as they are wired. */
  private Runnable reaping() {
    Outages outages = new Outages(holdfast.tenants().control(), PERIOD, System::nanoTime);
    Reapers reapers =
        new Reapers(
            each -> new Reaper(each, RandomGenerator.getDefault(), () -> {}), outages::measure);
    return () -> {
      Duration unused = reapers.runOnce(List.of(tenant), PERIOD);
    };
  }

  private Job job(UUID id) {
    return holdfast.jobs().get(id).orElseThrow();
  }
}
