package dev.holdfast.lease;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.job.Failure;
import dev.holdfast.job.JobState;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.job.TimeLimit;
import dev.holdfast.testkit.TestTenant;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SteadinessTest {

  private static final Duration PERIOD = Duration.ofSeconds(5);
  private static final Duration UP = Duration.ofHours(1);
  private static final Duration TEN_MINUTES = Duration.ofMinutes(10);
  private static final ClaimRequest REQUEST = ClaimRequest.of("worker", Set.of("default"), 1);

  @RegisterExtension final TestTenant tenant = new TestTenant();

  private final AtomicLong nanos = new AtomicLong();
  private final Steadiness steadiness = Steadiness.watched(PERIOD, nanos::get);

  @Test
  void of_the_time_before_its_first_round_a_reaper_knows_nothing() {
    assertThat(awayWithin(PERIOD)).isEqualTo(PERIOD);
    pass(PERIOD);
    assertThat(awayWithin(PERIOD)).isZero();
    assertThat(awayWithin(PERIOD.multipliedBy(3))).isEqualTo(PERIOD.multipliedBy(2));
  }

  @Test
  void when_the_reaper_comes_late_the_database_counts_as_away_since_it_came_last() {
    comeRegularly(UP);
    assertThat(awayWithin(UP)).isZero();

    pass(Duration.ofMinutes(1)); // the database was away, or the reaper's machine asleep
    assertThat(awayWithin(UP)).isEqualTo(Duration.ofMinutes(1));
    pass(PERIOD);
    assertThat(awayWithin(UP)).isEqualTo(Duration.ofMinutes(1));
    assertThat(awayWithin(Duration.ofSeconds(15))).isEqualTo(Duration.ofSeconds(10));
    assertThat(awayWithin(PERIOD)).isZero();
  }

  @Test
  void a_reaper_that_is_always_late_counts_the_delay_alone() {
    comeRegularly(UP);
    Duration late = PERIOD.multipliedBy(4);
    pass(late);
    assertThat(awayWithin(UP)).isEqualTo(late);

    for (int round = 0; round < 10; round++) {
      pass(late);
      awayWithin(UP);
    }

    assertThat(awayWithin(UP)).isEqualTo(late.plus(PERIOD.multipliedBy(3 * 10)));
  }

  @Test
  void before_the_server_started_it_was_away() {
    comeRegularly(UP);
    pass(PERIOD);

    assertThat(steadiness.measure(Duration.ofSeconds(2)).within(Duration.ofSeconds(10)))
        .isEqualTo(Duration.ofSeconds(8));
  }

  @Test
  void a_reaper_that_has_just_started_takes_no_lease_before_there_was_time_to_renew_it() {
    UUID id = leased();
    tenant.advance(Duration.ofHours(1));
    // However long the server of these tests has been up.
    Steadiness longUp = up -> steadiness.measure(UP.multipliedBy(2).plusNanos(nanos.get()));
    Reapers reapers =
        new Reapers(tenant -> new Reaper(tenant, RandomGenerator.getDefault(), () -> {}), longUp);
    Duration upFor = Duration.ZERO;

    while (tenant.job(id).state() == JobState.RUNNING && upFor.compareTo(UP) < 0) {
      Duration unused = reapers.runOnce(List.of(tenant.tenant()), PERIOD);
      upFor = upFor.plus(PERIOD);
      pass(PERIOD);
    }

    assertThat(upFor).isBetween(Duration.ofSeconds(31), Duration.ofSeconds(45));
  }

  private UUID leased() {
    return leased(NewJob.of("email", 1));
  }

  private UUID leased(NewJob job) {
    UUID id = tenant.jobs().enqueue(job).id();
    leases().claim(REQUEST);
    return id;
  }

  private PgLeases leases() {
    return new PgLeases(
        tenant.tenant(),
        Set::of,
        new LanePositions(() -> 0),
        RandomGenerator.getDefault(),
        () -> {});
  }

  @ParameterizedTest
  @ValueSource(strings = {"email", "deploy"})
  void after_an_outage_a_lease_is_kept_for_the_length_that_its_worker_asked_for(String kind) {
    NewJob job = NewJob.of(kind, 1);
    UUID id = tenant.jobs().enqueue(kind.equals("deploy") ? job.withResources("a") : job).id();
    Lease claimed = leases().claim(REQUEST.withLeaseLength(TEN_MINUTES)).leases().getFirst();
    assertThat(claimed.length()).isEqualTo(TEN_MINUTES);

    tenant.advance(Duration.ofHours(1));

    isLostWhenUpFor(TEN_MINUTES, id);
  }

  @Test
  void and_for_the_length_that_it_was_last_renewed_for() {
    UUID id = leased();
    LeaseKey key = new LeaseKey(tenant.name().value(), id, tenant.job(id).fence());
    leases().remote().extend("worker", List.of(key), Optional.of(TEN_MINUTES));

    tenant.advance(Duration.ofHours(1));

    isLostWhenUpFor(TEN_MINUTES, id);
  }

  private void isLostWhenUpFor(Duration length, UUID id) {
    reapWhenUpFor(length.minusSeconds(1));
    assertThat(tenant.job(id).state()).isEqualTo(JobState.RUNNING);
    reapWhenUpFor(length.plusSeconds(1));
    assertThat(tenant.job(id).state()).isEqualTo(JobState.QUEUED);
    assertThat(leases().claim(REQUEST).leases().getFirst().length())
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

  private void comeRegularly(Duration time) {
    awayWithin(UP);
    for (Duration passed = Duration.ZERO;
        passed.compareTo(time) < 0;
        passed = passed.plus(PERIOD)) {
      pass(PERIOD);
      awayWithin(UP);
    }
  }

  private void reapWhenUpFor(Duration time) {
    new Reaper(tenant.tenant(), RandomGenerator.getDefault(), () -> {})
        .runOnce(last -> last.minus(time));
  }

  private Duration awayWithin(Duration last) {
    return steadiness.measure(UP.plusNanos(nanos.get())).within(last);
  }

  private void pass(Duration time) {
    nanos.addAndGet(time.toNanos());
  }
}
