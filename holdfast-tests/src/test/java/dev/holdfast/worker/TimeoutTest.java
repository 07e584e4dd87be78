package dev.holdfast.worker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.hold.EngineRig;
import dev.holdfast.hold.Holds;
import dev.holdfast.job.Failure;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Kind;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Outcome;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.job.TimeLimit;
import dev.holdfast.lease.FinishReply;
import dev.holdfast.lease.Lease;
import dev.holdfast.queue.QueueSettings;
import dev.holdfast.testkit.Covers;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

@Covers("A7")
class TimeoutTest extends EngineRig {

  private static final Kind<String> SLOW = Kind.of("slow", String.class);

  @Test
  void a_handler_that_runs_too_long_is_interrupted_and_its_job_fails_for_good() throws Exception {
    UUID id =
        enqueue(SLOW.job("x").withResources("site:1").withPolicy(limit(Duration.ofMillis(50))));
    CountDownLatch finished = new CountDownLatch(1);
    WorkerListener listener =
        new WorkerListener() {
          @Override
          public void finished(Lease lease, FinishReply reply) {
            finished.countDown();
          }
        };

    try (Worker worker =
        tenant
            .worker()
            .handle(SLOW, (args, job) -> new CountDownLatch(1).await())
            .listen(listener)
            .start()) {
      finished.await();
    }

    assertThat(tenant.job(id).state()).isEqualTo(JobState.FAILED);
    assertThat(tenant.job(id).errorCode()).contains(Failure.JOB_TIMEOUT);
    assertThat(tenant.resources().get("site:1").holders()).isEmpty();
  }

  @Test
  void a_job_whose_worker_lets_the_time_pass_is_ended_by_the_reaper() {
    UUID id = enqueue(NewJob.of("slow", 1).withResources("site:1"));
    Lease lease = claim(1).getFirst();
    beatFor(Duration.ofMinutes(29), lease);
    reap();
    assertThat(tenant.job(id).state()).isEqualTo(JobState.RUNNING);

    beatFor(Duration.ofMinutes(2), lease); // half an hour is the default
    reap();

    assertThat(tenant.job(id).state()).isEqualTo(JobState.FAILED);
    assertThat(tenant.job(id).errorCode()).contains(Failure.JOB_TIMEOUT);
    assertThat(finish(lease, Outcome.succeeded())).isEqualTo(new FinishReply.Lost());
  }

  @Test
  void what_a_timed_out_job_held_passes_on_when_its_worker_stops_or_must_have() {
    enqueue(NewJob.of("slow", 1).withResources("site:1").withPolicy(limit(Duration.ofSeconds(10))));
    claim(1);
    UUID waiting = enqueue(NewJob.of("slow", 1).withResources("site:1"));
    tenant.advance(Duration.ofSeconds(13));
    reap();

    assertThat(claim(1)).isEmpty();
    tenant.advance(Duration.ofSeconds(17).plus(Holds.KILL_GRACE));
    reap();

    assertThat(next()).contains(waiting);
  }

  @Test
  void a_job_whose_worker_was_lost_before_its_time_was_over_is_tried_again_however_late() {
    UUID id = enqueue(NewJob.of("slow", 1));
    claim(1);
    tenant.advance(Duration.ofHours(2)); // nobody was there to reap

    reap();

    assertThat(tenant.job(id).state()).isEqualTo(JobState.QUEUED);
    assertThat(tenant.job(id).errorCode()).contains(Failure.LEASE_LOST);
  }

  @Test
  void a_worker_that_fails_after_its_time_was_over_hears_that_it_lost_the_job() {
    UUID id = enqueue(NewJob.of("slow", 1).withPolicy(limit(Duration.ofSeconds(10))));
    Lease lease = claim(1).getFirst();
    tenant.advance(Duration.ofSeconds(13));
    reap();

    assertThat(finish(lease, Outcome.failed(Failure.retryable("FLAKY", "again"))))
        .isEqualTo(new FinishReply.Lost());
    assertThat(finish(lease, Outcome.failed(Failure.timeout(lease.policy().timeout()))))
        .isEqualTo(new FinishReply.Recorded(JobState.FAILED)); // as it is
    assertThat(tenant.job(id).state()).isEqualTo(JobState.FAILED);
  }

  @Test
  void a_queue_can_have_another_limit_and_a_job_none() {
    tenant
        .queues()
        .put("default", QueueSettings.DEFAULTS.withDefaults(limit(Duration.ofSeconds(10))));
    UUID limited = enqueue(NewJob.of("slow", 1));
    UUID unlimited =
        enqueue(NewJob.of("slow", 2).withPolicy(PolicyOverrides.NONE.withTimeout(TimeLimit.NONE)));
    List<Lease> leases = claim(2);
    tenant.advance(Duration.ofSeconds(13));
    leases().extend(leases);

    reap();

    assertThat(tenant.job(limited).state()).isEqualTo(JobState.FAILED);
    assertThat(tenant.job(unlimited).state()).isEqualTo(JobState.RUNNING);
  }

  private void beatFor(Duration time, Lease lease) {
    for (Duration past = Duration.ZERO; past.compareTo(time) < 0; past = past.plusSeconds(29)) {
      tenant.advance(Duration.ofSeconds(29));
      leases().extend(List.of(lease));
    }
  }

  private static PolicyOverrides limit(Duration length) {
    return PolicyOverrides.NONE.withTimeout(TimeLimit.of(length));
  }
}
