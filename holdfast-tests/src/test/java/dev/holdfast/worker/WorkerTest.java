package dev.holdfast.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.job.Job;
import dev.holdfast.job.JobState;
import dev.holdfast.lease.ClaimRequest;
import dev.holdfast.testkit.Covers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Jobs run, fail and run again, and a worker starts and closes. */
class WorkerTest extends EmailRig {

  @Test
  void a_due_job_runs_once_and_goes_to_history() {
    List<String> sent = new ArrayList<>();
    Worker worker = tenant.worker().handle(EMAIL, (email, job) -> sent.add(email.to())).build();
    UUID id = enqueue("ada");

    int attempts = worker.runDue();

    assertThat(attempts).isEqualTo(1);
    assertThat(sent).containsExactly("ada");
    assertThat(tenant.job(id).state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(tenant.jobs().attempts(id)).hasSize(1);
  }

  @Test
  @Covers("A1")
  void a_handler_gets_what_it_needs_to_be_idempotent() {
    AtomicReference<JobContext> seen = new AtomicReference<>();
    Worker worker = tenant.worker().handle(EMAIL, (email, job) -> seen.set(job)).build();
    UUID id = enqueue("ada");

    worker.runDue();

    assertThat(seen.get().jobId()).isEqualTo(id);
    assertThat(seen.get().attempt()).isEqualTo(1);
    assertThat(seen.get().fence()).isEqualTo(tenant.job(id).fence());
  }

  @Test
  @Covers("A1")
  void a_job_whose_worker_died_before_reporting_runs_again_under_a_larger_fence() {
    List<Long> fences = new ArrayList<>();
    UUID id = enqueue("ada");
    fences.add(claimAndDie());
    tenant.advance(Duration.ofSeconds(31));
    tenant.reap();

    Worker next = tenant.worker().handle(EMAIL, (email, job) -> fences.add(job.fence())).build();
    next.runDue();

    assertThat(tenant.job(id).state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(fences).hasSize(2).isSorted().doesNotHaveDuplicates();
    assertThat(tenant.jobs().attempts(id))
        .extracting("outcome")
        .containsExactly("lost", "succeeded");
  }

  @Test
  void an_exception_is_a_failure_with_code_and_message_and_is_retried() {
    AtomicInteger attempts = new AtomicInteger();
    Worker worker =
        tenant
            .worker()
            .handle(
                EMAIL,
                (email, job) -> {
                  if (attempts.incrementAndGet() == 1) {
                    throw new IllegalStateException("smtp down");
                  }
                })
            .build();
    UUID id = enqueue("ada");

    worker.runDue();
    Job waiting = tenant.job(id);
    tenant.advance(Duration.ofSeconds(60));
    worker.runDue();

    assertThat(waiting.state()).isEqualTo(JobState.QUEUED);
    assertThat(waiting.errorCode()).contains("HANDLER_FAILED");
    assertThat(waiting.errorMessage().orElseThrow()).contains("smtp down");
    assertThat(tenant.job(id).state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(tenant.job(id).errorCode()).isEmpty();
  }

  @Test
  void an_error_in_a_handler_fails_the_job_and_not_the_worker() {
    Worker worker =
        tenant
            .worker()
            .handle(
                EMAIL,
                (email, job) -> {
                  throw new StackOverflowError("deep");
                })
            .build();
    UUID id = enqueue("ada");

    worker.runDue();

    assertThat(tenant.job(id).errorMessage().orElseThrow()).contains("StackOverflowError");
  }

  @Test
  void a_started_worker_runs_jobs_as_they_come_and_drains_when_closed() throws Exception {
    CountDownLatch ran = new CountDownLatch(100);
    try (Worker worker = tenant.worker().handle(EMAIL, (email, job) -> ran.countDown()).start()) {
      tenant.jobs().enqueueAll(Collections.nCopies(99, EMAIL.job(new Email("ada"))));
      enqueue("last");
      ran.await();
    }

    assertThat(tenant.query("SELECT FROM {schema}.job")).isEmpty();
    assertThat(tenant.query("SELECT FROM {schema}.job_done WHERE state = 'succeeded'"))
        .hasSize(100);
  }

  @Test
  void no_more_handlers_run_at_once_than_there_are_permits() throws Exception {
    AtomicInteger now = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    CountDownLatch ran = new CountDownLatch(50);
    WorkerBuilder builder =
        tenant
            .worker()
            .configure(config -> config.withConcurrency(3))
            .handle(
                EMAIL,
                (email, job) -> {
                  most.accumulateAndGet(now.incrementAndGet(), Math::max);
                  Thread.onSpinWait();
                  now.decrementAndGet();
                  ran.countDown();
                });
    tenant.jobs().enqueueAll(Collections.nCopies(50, EMAIL.job(new Email("ada"))));

    try (Worker worker = builder.start()) {
      ran.await();
    }

    assertThat(most.get()).isBetween(1, 3);
  }

  @Test
  void a_worker_needs_a_handler_and_takes_one_per_kind() {
    assertThatThrownBy(() -> tenant.worker().build()).hasMessageContaining("worker.handlers");
    assertThatThrownBy(
            () -> tenant.worker().handle(EMAIL, (e, j) -> {}).handle(EMAIL, (e, j) -> {}))
        .hasMessageContaining("email");
  }

  @Test
  void starting_and_closing_twice_is_fine() {
    Worker worker = tenant.worker().handle(EMAIL, (email, job) -> {}).build();

    worker.start();
    worker.start();
    worker.close();
    worker.close();
    worker.start(); // a closed worker stays closed

    UUID id = enqueue("ada");
    assertThat(tenant.job(id).state()).isEqualTo(JobState.QUEUED);
  }

  // What a kill -9 leaves behind: a lease that nobody renews.
  private long claimAndDie() {
    ClaimRequest request = ClaimRequest.of("dead-worker", Set.of("default"), 1);
    return tenant.leases().claim(request).leases().getFirst().key().fence();
  }
}
