package dev.holdfast.lease;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.Holdfast;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Kind;
import dev.holdfast.job.Outcome;
import dev.holdfast.testkit.Covers;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.testkit.TestTenant;
import dev.holdfast.worker.Worker;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Two Holdfasts with a pool each stand for two processes: they share the database and no object.
 */
@Covers("B11")
class TwoProcessesTest {

  private static final Kind<String> EMAIL = Kind.of("email", String.class);

  @RegisterExtension final TestTenant tenant = new TestTenant();

  private final HikariDataSource onePool = pool();
  private final HikariDataSource otherPool = pool();
  private final Holdfast one = Holdfast.on(onePool);
  private final Holdfast other = Holdfast.on(otherPool);

  @AfterEach
  void closePools() {
    onePool.close();
    otherPool.close();
  }

  @Test
  void two_processes_never_run_a_job_twice_and_leave_none_out() throws Exception {
    int jobs = 500;
    Map<UUID, Integer> runs = new ConcurrentHashMap<>();
    CountDownLatch ran = new CountDownLatch(jobs);

    try (Worker first = worker(one, runs, ran);
        Worker second = worker(other, runs, ran)) {
      one.jobs(tenant.name()).enqueueAll(Collections.nCopies(jobs / 2, EMAIL.job("ada")));
      other.jobs(tenant.name()).enqueueAll(Collections.nCopies(jobs / 2, EMAIL.job("bob")));
      ran.await();
    }

    assertThat(runs).hasSize(jobs);
    assertThat(runs.values()).containsOnly(1);
    assertThat(tenant.query("SELECT count(*) AS done FROM {schema}.job_done").getFirst())
        .containsEntry("done", (long) jobs);
  }

  @Test
  void what_one_process_claimed_another_can_extend_and_finish() {
    UUID id = one.jobs(tenant.name()).enqueue(EMAIL.job("ada")).id();
    Lease lease =
        leases(one).claim(ClaimRequest.of("host-1", Set.of("default"), 1)).leases().getFirst();

    List<Extension> extensions = leases(other).extend(List.of(lease));
    List<FinishReply> replies =
        leases(other).finish(List.of(new Finish(lease, Outcome.succeeded())));

    assertThat(extensions).extracting(Extension::status).containsExactly(Extension.Status.EXTENDED);
    assertThat(replies).containsExactly(new FinishReply.Recorded(JobState.SUCCEEDED));
    assertThat(leases(one).finish(List.of(new Finish(lease, Outcome.snoozed(Duration.ZERO)))))
        .containsExactly(new FinishReply.Lost());
    assertThat(one.jobs(tenant.name()).get(id).orElseThrow().state()).isEqualTo(JobState.SUCCEEDED);
  }

  private Worker worker(Holdfast holdfast, Map<UUID, Integer> runs, CountDownLatch ran) {
    return holdfast
        .worker(tenant.name())
        .handle(
            EMAIL,
            (to, job) -> {
              runs.merge(job.jobId(), 1, Integer::sum);
              ran.countDown();
            })
        .start();
  }

  private LeaseSource leases(Holdfast holdfast) {
    return new PgLeases(
        holdfast.tenants().open(tenant.name()),
        Set::of,
        new LanePositions(System::nanoTime),
        RandomGenerator.getDefault(),
        () -> {});
  }

  private static HikariDataSource pool() {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(TestDatabase.shared().jdbcUrl());
    config.setMaximumPoolSize(8);
    return new HikariDataSource(config);
  }
}
