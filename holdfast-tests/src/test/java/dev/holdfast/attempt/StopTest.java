package dev.holdfast.attempt;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Holdfast;
import dev.holdfast.audit.Act;
import dev.holdfast.hold.EngineRig;
import dev.holdfast.job.Failure;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Kind;
import dev.holdfast.job.Outcome;
import dev.holdfast.job.Policy.OnStop;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.job.Progress;
import dev.holdfast.lease.Extension;
import dev.holdfast.lease.Finish;
import dev.holdfast.lease.FinishReply;
import dev.holdfast.lease.Lease;
import dev.holdfast.lease.Report;
import dev.holdfast.testkit.Covers;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.worker.JobContext;
import dev.holdfast.worker.Worker;
import dev.holdfast.worker.WorkerListener;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** Somebody asks for a running job to stop. */
class StopTest extends EngineRig {

  private static final Kind<String> CALL = Kind.of("call", String.class);

  private static final PolicyOverrides PAUSES = PolicyOverrides.NONE.withOnStop(OnStop.PAUSE);

  private final CountDownLatch running = new CountDownLatch(1);
  private final CountDownLatch finished = new CountDownLatch(1);

  @Covers({"B6", "B7"})
  @Test
  void any_process_may_ask_and_the_worker_that_has_the_job_stops_it() throws Exception {
    UUID id = enqueue(CALL.job("x").withPolicy(PAUSES));

    try (Worker worker = worker((args, job) -> new CountDownLatch(1).await())) {
      running.await();
      // Another process: it shares the database and nothing else.
      Holdfast.on(TestDatabase.shared().dataSource()).acts(tenant.name()).stop(id, ADA);
      finished.await();
    }

    assertThat(tenant.job(id).state()).isEqualTo(JobState.PAUSED);
    assertThat(tenant.job(id).errorMessage()).contains("Job was interrupted by user");
  }

  @Covers("A15")
  @Test
  void a_cancelled_handler_makes_a_safe_stop_and_nothing_it_did_is_undone() throws Exception {
    UUID id = enqueue(CALL.job("x"));
    CountDownLatch cleanedUp = new CountDownLatch(1);

    try (Worker worker =
        worker((args, job) -> {
          job.checkpoint("page 3");
          try {
            new CountDownLatch(1).await();
          } catch (InterruptedException e) {
            cleanedUp.countDown();
            throw e;
          }
        })) {
      running.await();
      tenant.acts().cancel(id, ADA);
      finished.await();
    }

    assertThat(cleanedUp.getCount()).isZero();
    assertThat(tenant.job(id).state()).isEqualTo(JobState.CANCELLED);
    assertThat(tenant.job(id).progress()).isEqualTo(Progress.NONE.withCursor("page 3"));
  }

  @Covers("B6")
  @Test
  void a_handler_that_looks_can_stop_at_a_good_moment_and_has_not_succeeded() throws Exception {
    UUID id = enqueue(CALL.job("x").withPolicy(PAUSES));

    try (Worker worker =
        worker((args, job) -> {
          while (!job.shouldStop()) {
            Thread.onSpinWait();
          }
          Thread.interrupted(); // it heard, and goes on to clean up
        })) {
      running.await();
      tenant.acts().stop(id, ADA);
      finished.await();
    }

    assertThat(tenant.job(id).state()).isEqualTo(JobState.PAUSED);
  }

  @Test
  void a_cancellation_stays_when_somebody_pauses_the_stopping_job() {
    UUID id = enqueue(CALL.job("x"));
    Lease lease = claim(1).getFirst();
    tenant.acts().cancel(id, ADA);
    tenant.acts().pause(id, Act.by("bob"));

    finish(lease, new Outcome.Stopped());

    assertThat(tenant.job(id).state()).isEqualTo(JobState.CANCELLED);
  }

  @Test
  void of_a_pause_and_a_stop_by_policy_the_last_counts() {
    UUID cancelled = enqueue(CALL.job("x"));
    Lease first = claim(1).getFirst();
    tenant.acts().pause(cancelled, ADA);
    tenant.acts().stop(cancelled, Act.by("bob"));
    UUID paused = enqueue(CALL.job("y"));
    Lease second = claim(1).getFirst();
    tenant.acts().stop(paused, ADA);
    tenant.acts().pause(paused, Act.by("bob"));

    finish(first, new Outcome.Stopped());
    finish(second, new Outcome.Stopped());

    assertThat(tenant.job(cancelled).state()).isEqualTo(JobState.CANCELLED);
    assertThat(tenant.job(paused).state()).isEqualTo(JobState.PAUSED);
  }

  @Test
  void a_cancellation_and_a_limit_of_tokens_stay_when_somebody_stops_the_stopping_job() {
    UUID cancelled = enqueue(CALL.job("x").withPolicy(PAUSES));
    Lease first = claim(1).getFirst();
    tenant.acts().cancel(cancelled, ADA);
    tenant.acts().stop(cancelled, Act.by("bob"));
    UUID failed = enqueue(CALL.job("y").withPolicy(PAUSES.withTokenLimit(10)));
    Lease second = claim(1).getFirst();
    leases().report(second, Report.ofUsage(20, 0));
    tenant.acts().stop(failed, ADA);

    finish(first, new Outcome.Stopped());
    finish(second, new Outcome.Stopped());

    assertThat(tenant.job(cancelled).state()).isEqualTo(JobState.CANCELLED);
    assertThat(tenant.job(failed).state()).isEqualTo(JobState.FAILED);
  }

  @Test
  void a_job_over_its_limit_of_tokens_has_failed_though_somebody_pauses_it() {
    UUID id = enqueue(CALL.job("x").withPolicy(PAUSES.withTokenLimit(10)));
    Lease lease = claim(1).getFirst();
    leases().report(lease, Report.ofUsage(20, 0));
    tenant.acts().pause(id, ADA);

    finish(lease, new Outcome.Stopped());

    assertThat(tenant.job(id).state()).isEqualTo(JobState.FAILED);
    assertThat(tenant.job(id).errorCode()).contains("TOKEN_LIMIT");
  }

  @Test
  void a_job_over_its_limit_of_tokens_says_so_whatever_its_worker_says() {
    UUID id =
        enqueue(
            CALL.job("x").withPolicy(PolicyOverrides.NONE.withMaxAttempts(1).withTokenLimit(10)));
    Lease lease = claim(1).getFirst();
    leases().report(lease, Report.ofUsage(20, 0));

    finish(lease, Outcome.failed(Failure.retryable("CONNECTION", "the model is away")));

    assertThat(tenant.job(id).state()).isEqualTo(JobState.FAILED);
    assertThat(tenant.job(id).errorCode()).contains("TOKEN_LIMIT");
  }

  @Test
  void a_pause_is_answered_as_a_pause_also_beside_a_success() {
    UUID done = enqueue(CALL.job("x"));
    UUID paused = enqueue(CALL.job("y"));
    List<Lease> claimed = claim(2);
    tenant.acts().pause(paused, ADA);

    List<FinishReply> replies =
        leases()
            .finish(
                claimed.stream()
                    .map(lease ->
                        new Finish(
                            lease,
                            lease.key().jobId().equals(done)
                                ? Outcome.succeeded()
                                : new Outcome.Stopped()))
                    .toList());

    assertThat(replies)
        .containsExactlyInAnyOrder(
            new FinishReply.Recorded(JobState.SUCCEEDED),
            new FinishReply.Recorded(JobState.PAUSED));
    assertThat(tenant.job(paused).state()).isEqualTo(JobState.PAUSED);
  }

  @Test
  void a_job_that_ended_well_before_it_heard_has_succeeded() {
    UUID id = enqueue(CALL.job("x"));
    Lease lease = claim(1).getFirst();
    tenant.acts().stop(id, ADA);

    assertThat(finish(lease, Outcome.succeeded()))
        .isEqualTo(new FinishReply.Recorded(JobState.SUCCEEDED));

    assertThat(tenant.job(id).state()).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void a_stopping_job_whose_worker_died_has_stopped() {
    UUID id = enqueue(CALL.job("x").withPolicy(PAUSES));
    Lease lease = claim(1).getFirst();
    tenant.acts().stop(id, ADA);
    assertThat(leases().extend(List.of(lease)))
        .containsExactly(new Extension(lease.key(), Extension.Status.STOP_REQUESTED));

    tenant.advance(Duration.ofSeconds(31));
    reap();

    assertThat(tenant.job(id).state()).isEqualTo(JobState.PAUSED);
  }

  private interface Work {
    void run(String args, JobContext job) throws Exception;
  }

  private Worker worker(Work work) {
    WorkerListener listener =
        new WorkerListener() {
          @Override
          public void finished(Lease lease, FinishReply reply) {
            finished.countDown();
          }
        };
    return tenant
        .worker()
        .configure(config -> config.withHeartbeatInterval(Duration.ofMillis(50)))
        .handle(
            CALL,
            (args, job) -> {
              running.countDown();
              work.run(args, job);
            })
        .listen(listener)
        .start();
  }
}
