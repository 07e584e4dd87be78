package dev.holdfast.lease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.job.Failure;
import dev.holdfast.job.JobState;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Outcome;
import dev.holdfast.job.Payload;
import dev.holdfast.job.Placement;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.lease.Extension.Status;
import dev.holdfast.rig.Waits;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import org.jdbi.v3.core.ConnectionException;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.JdbiException;
import org.junit.jupiter.api.Test;

/**
 * The contract straight from the tables, and what only they can do: say when the next job is due,
 * and end an attempt in a handler's own transaction.
 */
class PgLeasesTest extends LeaseSourceContract {

  private volatile Set<String> onlineHosts = Set.of();

  @Override
  LeaseSource leases() {
    // A clock that stands still never leaves the start of a lane.
    return new PgLeases(
        tenant.tenant(),
        () -> onlineHosts,
        new LanePositions(() -> 0),
        RandomGenerator.getDefault(),
        () -> {});
  }

  @Test
  void a_repeated_claim_renews_also_the_lease_that_somebody_is_at_once_he_is_done()
      throws Exception {
    UUID free = enqueue(NewJob.of("email", 1));
    UUID busy = enqueue(NewJob.of("email", 2));
    ClaimRequest request = anyKind("worker", 2).withClaimId("same");
    List<Lease> first = leases().claim(request).leases();
    tenant.advance(Duration.ofSeconds(20));

    try (ExecutorService thread = Executors.newSingleThreadExecutor();
        Handle report = tenant.tenant().db().jdbi().open()) {
      report.begin();
      report.execute(
          tenant.tenant().db().sql("SELECT FROM {schema}.job WHERE id = ? FOR UPDATE"), busy);
      Future<Claimed> again = thread.submit(() -> leases().claim(request));
      Waits.untilSomebodyWaitsFor(report);
      assertThat(renewed(first, free)).as("kept by whoever waits").isTrue();
      assertThat(renewed(first, busy)).isFalse();
      report.commit();

      assertThat(again.get(1, TimeUnit.MINUTES).leases())
          .extracting(Lease::key)
          .containsExactlyElementsOf(first.stream().map(Lease::key).toList());
    }
    assertThat(renewed(first, busy)).isTrue();
  }

  private boolean renewed(List<Lease> first, UUID id) {
    return tenant
        .job(id)
        .lease()
        .orElseThrow()
        .expiresAt()
        .isAfter(first.getFirst().expiresAt().plusSeconds(10));
  }

  @Test
  void a_preferred_host_is_offered_the_job_first_and_others_after_ten_seconds() {
    onlineHosts = Set.of("gpu-1", "host-b");
    UUID id = enqueue(NewJob.of("email", 1).withPlacement(Placement.preferring("gpu-1")));

    assertThat(claimFrom("host-b", Map.of())).isEmpty();
    tenant.advance(Duration.ofSeconds(10));
    assertThat(ids(claimFrom("host-b", Map.of()))).containsExactly(id);
  }

  @Test
  void a_preferred_host_that_is_offline_is_not_waited_for() {
    onlineHosts = Set.of("host-b");
    UUID id = enqueue(NewJob.of("email", 1).withPlacement(Placement.preferring("gpu-1")));

    assertThat(ids(claimFrom("host-b", Map.of()))).containsExactly(id);
  }

  @Test
  void an_idle_claim_says_when_a_job_is_no_longer_kept_for_another_host() {
    onlineHosts = Set.of("host-b", "gpu-1");
    enqueue(NewJob.of("email", 1).withPlacement(Placement.preferring("gpu-1")));
    tenant.advance(Duration.ofSeconds(3));

    Claimed claimed = leases().claim(anyKind("worker", 1).withPlace("host-b", Map.of()));

    assertThat(claimed.nextDueIn().orElseThrow())
        .isBetween(Duration.ofSeconds(5), Duration.ofSeconds(7));
  }

  @Test
  void a_claim_says_nothing_of_the_next_job_where_there_is_none() {
    enqueue(NewJob.of("email", 1));
    Lease lease = claim("worker", 1).getFirst();
    leases().finish(List.of(new Finish(lease, Outcome.succeeded())));

    assertThat(leases().claim(anyKind("worker", 1)).nextDueIn()).isEmpty();
  }

  @Test
  void an_idle_claim_says_when_the_next_job_is_due() {
    enqueue(NewJob.of("email", 1).withDelay(Duration.ofSeconds(30)));

    Claimed claimed = leases().claim(anyKind("worker", 1));

    assertThat(claimed.leases()).isEmpty();
    assertThat(claimed.nextDueIn().orElseThrow())
        .isBetween(Duration.ofSeconds(25), Duration.ofSeconds(30));
  }

  @Test
  void a_handlers_writes_and_the_completion_commit_together() throws Exception {
    tenant.execute("CREATE TABLE {schema}.sent (number integer)");
    UUID id = enqueue(NewJob.of("email", 1));
    Lease lease = claimOne("worker");

    FinishReply reply =
        leases()
            .finishInTransaction(
                lease,
                connection -> {
                  insertSent(connection);
                  return new Payload("7");
                });

    assertThat(reply).isEqualTo(new FinishReply.Recorded(JobState.SUCCEEDED));
    assertThat(tenant.query("SELECT number FROM {schema}.sent")).hasSize(1);
    assertThat(tenant.job(id).result()).contains(new Payload("7"));
  }

  @Test
  void a_handlers_writes_are_rolled_back_when_its_lease_was_lost() throws Exception {
    tenant.execute("CREATE TABLE {schema}.sent (number integer)");
    UUID id = enqueue(NewJob.of("email", 1));
    Lease lost = claimOne("worker-a");
    expireAndReap();
    claimOne("worker-b");

    FinishReply reply = finishWithAWrite(lost);

    assertThat(reply).isEqualTo(new FinishReply.Lost());
    assertThat(tenant.query("SELECT number FROM {schema}.sent")).isEmpty();
    assertThat(tenant.job(id).state()).isEqualTo(JobState.RUNNING);
  }

  @Test
  void a_handlers_writes_are_rolled_back_when_its_job_is_not_to_succeed_any_more()
      throws Exception {
    tenant.execute("CREATE TABLE {schema}.sent (number integer)");
    UUID id = enqueue(NewJob.of("email", 1).withPolicy(PolicyOverrides.NONE.withTokenLimit(100)));
    Lease lease = claimOne("worker");
    leases().report(lease, Report.ofUsage(80, 40));

    FinishReply reply = finishWithAWrite(lease);

    assertThat(reply).isEqualTo(new FinishReply.NotNow("the job is to end as failed"));
    assertThat(tenant.query("SELECT number FROM {schema}.sent")).isEmpty();
    assertThat(finish(lease, Outcome.failed(Failure.retryable("X", "rolled back"))))
        .isEqualTo(new FinishReply.Recorded(JobState.FAILED));
    assertThat(tenant.job(id).errorCode()).contains(Failure.TOKEN_LIMIT);
  }

  @Test
  void leases_of_a_dropped_tenant_are_lost_and_do_not_fail_the_worker() {
    enqueue(NewJob.of("email", 1));
    Lease lease = claimOne("worker");
    tenant.holdfast().tenants().drop(tenant.name());
    try {
      assertThat(leases().extend(List.of(lease)))
          .containsExactly(new Extension(lease.key(), Status.LOST));
      assertThat(finish(lease, Outcome.succeeded())).isEqualTo(new FinishReply.Lost());
    } finally {
      tenant.holdfast().tenants().create(tenant.name());
    }
  }

  @Test
  void a_handler_that_uses_jdbi_gets_its_own_exceptions_back_as_they_are() {
    tenant.execute("CREATE TABLE {schema}.sent (number integer)");
    UUID id = enqueue(NewJob.of("email", 1));
    Lease lease = claimOne("worker");
    JdbiException own = new ConnectionException(new SQLException("the handler's own database"));

    assertThatThrownBy(() ->
            leases()
                .finishInTransaction(
                    lease,
                    connection -> {
                      insertSent(connection);
                      throw own;
                    }))
        .isSameAs(own);

    assertThat(tenant.query("SELECT number FROM {schema}.sent")).isEmpty();
    assertThat(tenant.job(id).state()).isEqualTo(JobState.RUNNING);
  }

  private FinishReply finishWithAWrite(Lease lease) throws Exception {
    return leases()
        .finishInTransaction(
            lease,
            connection -> {
              insertSent(connection);
              return Payload.NULL;
            });
  }

  private void insertSent(Connection connection) throws SQLException {
    try (var statement = connection.createStatement()) {
      statement.execute(tenant.tenant().db().sql("INSERT INTO {schema}.sent VALUES (1)"));
    }
  }

  @Test
  void a_stored_policy_that_cannot_be_read_keeps_nobody_from_working() {
    UUID id = enqueue(NewJob.of("email", 1));
    tenant.execute("UPDATE {schema}.job SET policy = '{\"max_attempts\": \"many\"}'");

    Lease lease = claimOne("worker");
    expireAndReap();

    assertThat(lease.policy().maxAttempts()).isEqualTo(3);
    assertThat(tenant.job(id).state()).isEqualTo(JobState.QUEUED);
  }
}
