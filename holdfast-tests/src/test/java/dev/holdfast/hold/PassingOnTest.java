package dev.holdfast.hold;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.job.JobState;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Outcome;
import dev.holdfast.job.Policy.OnLeaseLost;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.lease.FinishReply;
import dev.holdfast.lease.Lease;
import dev.holdfast.reap.Reaper;
import java.time.Duration;
import java.util.UUID;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

class PassingOnTest extends EngineRig {

  private static final NewJob DEPLOY = NewJob.of("deploy", 1).withResources("site:1");

  @Test
  void what_a_silent_worker_held_passes_on_only_when_lease_and_kill_grace_are_over() {
    UUID silent =
        enqueue(DEPLOY.withPolicy(PolicyOverrides.NONE.withOnLeaseLost(OnLeaseLost.FAIL)));
    claim(1);
    UUID waiting = enqueue(DEPLOY);
    tenant.advance(Duration.ofSeconds(31));

    reap();

    assertThat(tenant.job(silent).state()).isEqualTo(JobState.FAILED);
    assertThat(claim(10)).isEmpty();
    assertThat(tenant.resources().get("site:1").holders().getFirst().passesAt()).isPresent();
    tenant.advance(Holds.KILL_GRACE);
    reap();
    assertThat(next()).contains(waiting);
  }

  @Test
  void the_retry_of_a_lost_job_waits_for_the_earlier_attempt_too() {
    UUID lost = enqueue(DEPLOY);
    claim(1);
    tenant.advance(Duration.ofSeconds(31));
    reap();

    assertThat(tenant.job(lost).state()).isEqualTo(JobState.QUEUED);
    assertThat(claim(10)).isEmpty();
    assertThat(tenant.job(lost).waitingOn()).contains("site:1");
    tenant.advance(Holds.KILL_GRACE);
    reap();

    assertThat(next()).contains(lost);
  }

  @Test
  void a_late_worker_that_says_its_work_is_over_frees_what_it_held() {
    enqueue(DEPLOY.withPolicy(PolicyOverrides.NONE.withOnLeaseLost(OnLeaseLost.FAIL)));
    Lease lost = claim(1).getFirst();
    UUID waiting = enqueue(DEPLOY);
    tenant.advance(Duration.ofSeconds(31));
    reap();
    assertThat(claim(10)).isEmpty();

    FinishReply reply = finish(lost, Outcome.succeeded());

    assertThat(reply).isEqualTo(new FinishReply.Lost());
    assertThat(next()).contains(waiting);
  }

  @Test
  void a_late_worker_cannot_free_what_somebody_else_holds_now() {
    enqueue(DEPLOY.withPolicy(PolicyOverrides.NONE.withOnLeaseLost(OnLeaseLost.RETRY)));
    Lease lost = claim(1).getFirst();
    tenant.advance(Duration.ofSeconds(36));
    reap();
    reap();
    Lease current = claim(1).getFirst();
    assertThat(current.key().jobId()).isEqualTo(lost.key().jobId());
    enqueue(DEPLOY);

    finish(lost, Outcome.succeeded());

    assertThat(claim(10)).isEmpty();
    assertThat(tenant.resources().get("site:1").holders())
        .extracting(ResourceState.Holder::fence)
        .containsExactly(current.key().fence());
  }

  @Test
  void a_reaper_rests_until_something_passes_on() {
    Reaper reaper = new Reaper(tenant.tenant(), RandomGenerator.getDefault(), () -> {});
    Duration period = Duration.ofMinutes(1);
    enqueue(DEPLOY);
    claim(1);

    reaper.runOnce();
    assertThat(reaper.untilNext(period)).isEqualTo(period);

    tenant.advance(Duration.ofSeconds(31));
    reaper.runOnce();
    assertThat(reaper.untilNext(period)).isBetween(Duration.ofMillis(1), Holds.KILL_GRACE);
  }

  @Test
  void a_wake_up_that_went_missing_is_made_good_by_the_reaper() {
    enqueue(DEPLOY);
    Lease running = claim(1).getFirst();
    UUID waiting = enqueue(DEPLOY);
    claim(10);
    succeed(running);
    tenant.execute("UPDATE {schema}.job SET waiting_on = 'site:1'"); // as if nobody had woken it
    assertThat(claim(10)).isEmpty();

    reap();

    assertThat(next()).contains(waiting);
  }
}
