package dev.holdfast.reap;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.job.Failure;
import dev.holdfast.job.JobState;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.job.TimeLimit;
import dev.holdfast.lease.ClaimRequest;
import dev.holdfast.lease.Lease;
import dev.holdfast.lease.LeaseKey;
import dev.holdfast.testkit.TestTenant;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a reaper does about time in which nobody could renew a lease. */
class DowntimeTest {

  private static final Duration TEN_MINUTES = Duration.ofMinutes(10);
  private static final ClaimRequest REQUEST = ClaimRequest.of("worker", Set.of("default"), 1);

  @RegisterExtension final TestTenant tenant = new TestTenant();

  private UUID leased() {
    return leased(NewJob.of("email", 1));
  }

  private UUID leased(NewJob job) {
    UUID id = tenant.jobs().enqueue(job).id();
    tenant.leases().claim(REQUEST);
    return id;
  }

  @ParameterizedTest
  @ValueSource(strings = {"email", "deploy"})
  void after_an_outage_a_lease_is_kept_for_the_length_that_its_worker_asked_for(String kind) {
    NewJob job = NewJob.of(kind, 1);
    UUID id = tenant.jobs().enqueue(kind.equals("deploy") ? job.withResources("a") : job).id();
    Lease claimed = tenant.leases().claim(REQUEST.withLeaseLength(TEN_MINUTES)).leases().getFirst();
    assertThat(claimed.length()).isEqualTo(TEN_MINUTES);

    tenant.advance(Duration.ofHours(1));

    isLostWhenUpFor(TEN_MINUTES, id);
  }

  @Test
  void and_for_the_length_that_it_was_last_renewed_for() {
    UUID id = leased();
    LeaseKey key = new LeaseKey(tenant.name().value(), id, tenant.job(id).fence());
    tenant.leases().remote().extend("worker", List.of(key), Optional.of(TEN_MINUTES));

    tenant.advance(Duration.ofHours(1));

    isLostWhenUpFor(TEN_MINUTES, id);
  }

  private void isLostWhenUpFor(Duration length, UUID id) {
    reapWhenUpFor(length.minusSeconds(1));
    assertThat(tenant.job(id).state()).isEqualTo(JobState.RUNNING);
    reapWhenUpFor(length.plusSeconds(1));
    assertThat(tenant.job(id).state()).isEqualTo(JobState.QUEUED);
    assertThat(tenant.leases().claim(REQUEST).leases().getFirst().length())
        .as("the next attempt's")
        .isEqualTo(Duration.ofSeconds(30));
  }

  @Test
  void after_an_outage_no_lease_is_lost_before_there_was_time_to_renew_it() {
    UUID id = leased();
    tenant.advance(Duration.ofHours(1)); // many times as long as the lease

    reapWhenUpFor(Duration.ZERO);
    assertThat(tenant.job(id).state()).isEqualTo(JobState.RUNNING);
    reapWhenUpFor(Duration.ofSeconds(29));
    assertThat(tenant.job(id).state()).isEqualTo(JobState.RUNNING);
    reapWhenUpFor(Duration.ofSeconds(31));

    assertThat(tenant.job(id).state()).isEqualTo(JobState.QUEUED);
  }

  @Test
  void what_may_have_ended_in_time_while_the_database_was_away_has_not_run_too_long() {
    Duration limit = Duration.ofSeconds(10);
    UUID id =
        leased(
            NewJob.of("email", 1)
                .withPolicy(PolicyOverrides.NONE.withTimeout(TimeLimit.of(limit))));
    tenant.advance(Duration.ofSeconds(25)); // the lease is good for another five

    reapWhenUpFor(Duration.ZERO);
    assertThat(tenant.job(id).state()).isEqualTo(JobState.RUNNING);
    reapWhenUpFor(Duration.ofSeconds(11)); // its end has had time to be tried again
    assertThat(tenant.job(id).state()).isEqualTo(JobState.RUNNING);
    reapWhenUpFor(Duration.ofSeconds(13));

    assertThat(tenant.job(id).errorCode()).contains(Failure.JOB_TIMEOUT);
  }

  private void reapWhenUpFor(Duration time) {
    new Reaper(tenant.tenant(), RandomGenerator.getDefault(), () -> {})
        .runAfter(last -> last.minus(time));
  }
}
