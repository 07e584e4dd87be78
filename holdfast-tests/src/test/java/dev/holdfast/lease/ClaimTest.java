package dev.holdfast.lease;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.audit.Act;
import dev.holdfast.job.JobState;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Outcome;
import dev.holdfast.job.Policy.OnStop;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.queue.QueueSettings;
import dev.holdfast.testkit.Covers;
import dev.holdfast.testkit.TestTenant;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class ClaimTest {

  private static final NewJob EMAIL = NewJob.of("email", "ada");

  @RegisterExtension final TestTenant tenant = new TestTenant();

  @Covers("A6")
  @Test
  void a_claim_shows_who_has_the_job_and_since_when() {
    UUID id = tenant.jobs().enqueue(EMAIL).id();
    Map<String, Object> before = row(id);

    claim("host-1", 1);

    assertThat(before)
        .containsEntry("status", "queued")
        .containsEntry("attempts", 0)
        .containsEntry("locked_at", null)
        .containsEntry("locked_by", null)
        .containsEntry("started_at", null);
    Map<String, Object> after = row(id);
    assertThat(after)
        .containsEntry("status", "running")
        .containsEntry("attempts", 1)
        .containsEntry("locked_by", "host-1");
    assertThat(after.get("locked_at")).isNotNull().isEqualTo(after.get("started_at"));
  }

  @Covers("A6")
  @Test
  void the_table_of_jobs_tells_a_jobs_site_and_node_before_and_after_its_end() {
    UUID both = tenant.jobs().enqueue(EMAIL.withResources("site:42", "node:7", "licence")).id();
    UUID neither = tenant.jobs().enqueue(EMAIL.withTarget("site:1")).id();

    assertThat(row(both)).containsEntry("site_id", "42").containsEntry("node_id", "7");
    assertThat(row(neither)).containsEntry("site_id", null).containsEntry("node_id", null);

    tenant.acts().cancel(both, Act.by("ada"));
    assertThat(row(both)).containsEntry("site_id", "42").containsEntry("node_id", "7");
  }

  @Covers("A6")
  @Test
  void nobody_ever_sees_a_job_half_claimed() throws Exception {
    tenant.jobs().enqueueAll(Collections.nCopies(200, EMAIL));

    List<Integer> halfClaimed = new ArrayList<>();
    try (ExecutorService executor = Executors.newSingleThreadExecutor()) {
      Future<?> claiming =
          executor.submit(() -> {
            while (!claim("host-1", 5).isEmpty()) {}
          });
      while (!claiming.isDone()) {
        halfClaimed.add(
            tenant
                .query(
                    """
                    SELECT id FROM {schema}.jobs
                     WHERE (status = 'running') <> (locked_at IS NOT NULL)
                        OR (status = 'running') <> (locked_by IS NOT NULL)
                        OR (status = 'running') <> (started_at IS NOT NULL)
                    """)
                .size());
      }
      claiming.get();
    }

    assertThat(halfClaimed).isNotEmpty().containsOnly(0);
  }

  @Covers("A6")
  @Test
  void claimers_at_the_same_moment_never_get_the_same_job() throws Exception {
    int claimers = 8;
    tenant.jobs().enqueueAll(Collections.nCopies(100, EMAIL));
    CyclicBarrier together = new CyclicBarrier(claimers);

    List<UUID> claimed = Collections.synchronizedList(new ArrayList<>());
    try (ExecutorService executor = Executors.newFixedThreadPool(claimers)) {
      List<Future<?>> all = new ArrayList<>();
      for (int i = 0; i < claimers; i++) {
        String worker = "host-" + i;
        all.add(
            executor.submit(() -> {
              together.await();
              List<Lease> leases = claim(worker, 3);
              while (!leases.isEmpty()) {
                leases.forEach(lease -> claimed.add(lease.key().jobId()));
                leases = claim(worker, 3);
              }
              return null;
            }));
      }
      for (Future<?> one : all) {
        one.get();
      }
    }

    // A claimer may leave early when others have what it looked at; nothing may be claimed twice.
    claim("last", 100).forEach(lease -> claimed.add(lease.key().jobId()));
    assertThat(claimed).hasSize(100).doesNotHaveDuplicates();
  }

  @Covers("B4")
  @Test
  void a_claim_sets_the_leases_owner_and_its_expiry() {
    UUID id = tenant.jobs().enqueue(EMAIL).id();

    Lease lease = claim("host-1", 1).getFirst();

    var stored = tenant.job(id).lease().orElseThrow();
    assertThat(stored.owner()).isEqualTo("host-1");
    assertThat(stored.expiresAt()).isEqualTo(lease.expiresAt());
    assertThat(Duration.between(tenant.job(id).startedAt().orElseThrow(), stored.expiresAt()))
        .isEqualTo(Duration.ofSeconds(30));
  }

  @Covers("B4")
  @Test
  void a_claim_forgets_an_earlier_request_to_stop() {
    UUID id =
        tenant.jobs().enqueue(EMAIL.withPolicy(PolicyOverrides.NONE.withOnStop(OnStop.PAUSE))).id();
    Lease stopped = claim("host-1", 1).getFirst();
    tenant.acts().stop(id, Act.by("ada"));
    tenant.leases().finish(List.of(new Finish(stopped, new Outcome.Stopped())));
    assertThat(tenant.job(id).state()).isEqualTo(JobState.PAUSED);
    tenant.execute("UPDATE {schema}.job SET state = 'queued'"); // as somebody who resumes it

    Lease resumed = claim("host-2", 1).getFirst();

    assertThat(tenant.job(id).state()).isEqualTo(JobState.RUNNING);
    assertThat(resumed.key().fence()).isGreaterThan(stopped.key().fence());
    assertThat(tenant.leases().extend(List.of(resumed)))
        .extracting(Extension::status)
        .containsExactly(Extension.Status.EXTENDED);
  }

  @Test
  void jobs_granted_before_a_limited_queue_failed_reach_the_worker() {
    UUID good = tenant.jobs().enqueue(EMAIL).id();
    tenant.queues().put("limited", QueueSettings.DEFAULTS.withConcurrencyLimit(1));
    tenant
        .jobs()
        .enqueue(EMAIL.withQueue("limited").withPolicy(PolicyOverrides.NONE.withMaxAttempts(1)));
    // Nothing but SQL can store such a policy; it stands for whatever else may go wrong there.
    tenant.execute(
        "UPDATE {schema}.job SET policy = '{\"lease_seconds\": \"x\"}' WHERE policy IS NOT NULL");

    List<Lease> leases =
        tenant.leases().claim(ClaimRequest.of("host-1", Set.of("default", "limited"), 5)).leases();

    assertThat(leases).extracting(lease -> lease.key().jobId()).containsExactly(good);
  }

  private Map<String, Object> row(UUID id) {
    return tenant.query("SELECT * FROM {schema}.jobs WHERE id = '" + id + "'").getFirst();
  }

  private List<Lease> claim(String worker, int limit) {
    return tenant.leases().claim(ClaimRequest.of(worker, Set.of("default"), limit)).leases();
  }
}
