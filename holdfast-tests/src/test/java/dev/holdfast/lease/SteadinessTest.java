package dev.holdfast.lease;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.job.JobState;
import dev.holdfast.job.NewJob;
import dev.holdfast.retention.Retention;
import dev.holdfast.testkit.TestTenant;
import java.time.Duration;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class SteadinessTest {

  private static final Duration PERIOD = Duration.ofSeconds(5);
  private static final Duration UP = Duration.ofHours(1);

  @RegisterExtension final TestTenant tenant = new TestTenant();

  private final AtomicLong nanos = new AtomicLong();
  private final Steadiness steadiness = Steadiness.watched(PERIOD, nanos::get);

  @Test
  void time_is_steady_until_the_reaper_comes_late_and_then_begins_anew() {
    Duration first = measure();
    pass(PERIOD);
    Duration second = measure();
    assertThat(second).isGreaterThanOrEqualTo(first);

    pass(Duration.ofMinutes(1)); // the database was away, or the reaper's machine asleep
    assertThat(measure()).isZero();
    pass(PERIOD);
    assertThat(measure()).isBetween(Duration.ofSeconds(1), PERIOD);
  }

  @Test
  void time_is_steady_for_no_longer_than_the_server_is_up() {
    measure();
    pass(PERIOD);

    assertThat(steadiness.measure(Duration.ofSeconds(2))).isEqualTo(Duration.ofSeconds(2));
  }

  @Test
  void after_an_outage_no_lease_is_lost_before_there_was_time_to_renew_it() {
    UUID id = tenant.jobs().enqueue(NewJob.of("email", 1)).id();
    new PgLeases(
            tenant.tenant(),
            Set::of,
            new LanePositions(() -> 0),
            RandomGenerator.getDefault(),
            () -> {})
        .claim(ClaimRequest.of("worker", Set.of("default"), 1));
    tenant.advance(Duration.ofSeconds(40));

    reapWhenSteadyFor(Duration.ZERO);
    assertThat(tenant.job(id).state()).isEqualTo(JobState.RUNNING);
    reapWhenSteadyFor(Duration.ofSeconds(19));
    assertThat(tenant.job(id).state()).isEqualTo(JobState.RUNNING);
    reapWhenSteadyFor(Duration.ofSeconds(30));

    assertThat(tenant.job(id).state()).isEqualTo(JobState.QUEUED);
  }

  private void reapWhenSteadyFor(Duration time) {
    new Reaper(
            tenant.tenant(),
            RandomGenerator.getDefault(),
            () -> {},
            serverUp -> time,
            Retention.DEFAULTS)
        .runOnce();
  }

  private Duration measure() {
    return steadiness.measure(UP.plusNanos(nanos.get()));
  }

  private void pass(Duration time) {
    nanos.addAndGet(time.toNanos());
  }
}
