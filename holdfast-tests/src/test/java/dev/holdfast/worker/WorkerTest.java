package dev.holdfast.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.audit.Act;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Job;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Kind;
import dev.holdfast.job.Policy;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.job.Progress;
import dev.holdfast.lease.ClaimRequest;
import dev.holdfast.lease.FinishReply;
import dev.holdfast.lease.LanePositions;
import dev.holdfast.lease.Lease;
import dev.holdfast.lease.LeaseSource;
import dev.holdfast.lease.PgLeases;
import dev.holdfast.testkit.Covers;
import dev.holdfast.testkit.TestTenant;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class WorkerTest {

  record Email(String to) {}

  static final Kind<Email> EMAIL = Kind.of("email", Email.class);

  @RegisterExtension final TestTenant tenant = new TestTenant();

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
  void closing_hands_unfinished_jobs_back_without_spending_an_attempt() throws Exception {
    CountDownLatch started = new CountDownLatch(1);
    UUID id = enqueue("slow");
    Worker worker =
        tenant
            .worker()
            .configure(config -> config.withDrainTimeout(Duration.ZERO))
            .handle(
                EMAIL,
                (email, job) -> {
                  started.countDown();
                  new CountDownLatch(1).await();
                })
            .start();
    started.await();

    worker.close();

    assertThat(tenant.job(id).state()).isEqualTo(JobState.QUEUED);
    assertThat(tenant.job(id).attempt()).isZero();
    assertThat(tenant.jobs().attempts(id)).extracting("outcome").containsExactly("released");
  }

  @Covers("B13")
  @Test
  void a_handler_that_looks_hears_of_the_end_of_a_drain_in_time_to_end_by_itself()
      throws Exception {
    Duration grace = Duration.ofSeconds(5);
    CountDownLatch started = new CountDownLatch(1);
    AtomicLong heardNanos = new AtomicLong();
    AtomicBoolean interrupted = new AtomicBoolean();
    UUID id = enqueue("slow");
    Worker worker =
        tenant
            .worker()
            .configure(config -> config.withDrainTimeout(grace))
            .handle(
                EMAIL,
                (email, job) -> {
                  started.countDown();
                  while (!job.shouldStop()) {
                    LockSupport.parkNanos(1_000_000); // a piece of its work
                  }
                  heardNanos.set(System.nanoTime());
                  interrupted.set(Thread.currentThread().isInterrupted());
                  job.checkpoint("where it was");
                })
            .start();
    started.await();

    long closedNanos = System.nanoTime();
    worker.close();

    assertThat(interrupted).isFalse();
    assertThat(Duration.ofNanos(heardNanos.get() - closedNanos))
        .as("when it heard: jobs get their time before")
        .isGreaterThan(grace.dividedBy(2));
    assertThat(tenant.job(id).state()).isEqualTo(JobState.QUEUED);
    assertThat(tenant.job(id).attempt()).isZero();
    assertThat(tenant.job(id).progress().cursor()).contains("where it was");
    assertThat(tenant.jobs().attempts(id)).extracting("outcome").containsExactly("released");
  }

  @Test
  void a_stop_request_interrupts_the_handler_and_the_policy_decides_what_it_means()
      throws Exception {
    CountDownLatch started = new CountDownLatch(2);
    CountDownLatch recorded = new CountDownLatch(2);
    PolicyOverrides pausing = PolicyOverrides.NONE.withOnStop(Policy.OnStop.PAUSE);
    UUID cancelled = enqueue("a");
    UUID paused = tenant.jobs().enqueue(EMAIL.job(new Email("b")).withPolicy(pausing)).id();
    WorkerBuilder builder =
        tenant
            .worker()
            .configure(config -> config.withHeartbeatInterval(Duration.ofMillis(50)))
            .listen(onFinished(recorded))
            .handle(
                EMAIL,
                (email, job) -> {
                  started.countDown();
                  new CountDownLatch(1).await();
                });

    try (Worker worker = builder.start()) {
      started.await();
      tenant.acts().stop(cancelled, Act.by("ada"));
      tenant.acts().stop(paused, Act.by("ada"));
      recorded.await();
    }

    assertThat(tenant.job(cancelled).state()).isEqualTo(JobState.CANCELLED);
    assertThat(tenant.job(paused).state()).isEqualTo(JobState.PAUSED);
    assertThat(tenant.job(paused).errorMessage()).contains("Job was interrupted by user");
  }

  @Test
  void a_handler_whose_lease_was_taken_is_interrupted_and_what_it_says_is_ignored()
      throws Exception {
    CountDownLatch started = new CountDownLatch(1);
    CountDownLatch lost = new CountDownLatch(1);
    ConcurrentLinkedQueue<Boolean> couldWrite = new ConcurrentLinkedQueue<>();
    UUID id = enqueue("slow");
    WorkerBuilder builder =
        tenant
            .worker()
            .configure(config ->
                config
                    .withHeartbeatInterval(Duration.ofMillis(50))
                    .withDrainTimeout(Duration.ofSeconds(10)))
            .handle(
                EMAIL,
                (email, job) -> {
                  started.countDown();
                  try {
                    new CountDownLatch(1).await();
                  } catch (InterruptedException e) {
                    job.log("still alive");
                    try {
                      job.checkpoint("zombie");
                      couldWrite.add(true);
                    } catch (HoldfastException refused) {
                      couldWrite.add(false);
                    }
                    lost.countDown();
                  }
                });

    try (Worker worker = builder.start()) {
      started.await();
      // As if another node's reaper had given the job away.
      tenant.execute(
          "UPDATE {schema}.job SET fence = fence + 1000000, worker = 'another' WHERE state = 'running'");
      lost.await();
    }

    assertThat(couldWrite).containsExactly(false);
    assertThat(tenant.job(id).state()).isEqualTo(JobState.RUNNING);
    assertThat(tenant.job(id).progress()).isEqualTo(Progress.NONE);
    assertThat(tenant.jobs().log(id)).isEmpty();
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
    LeaseSource leases =
        new PgLeases(
            tenant.tenant(),
            Set::of,
            new LanePositions(() -> 0),
            RandomGenerator.getDefault(),
            () -> {});
    ClaimRequest request = ClaimRequest.of("dead-worker", Set.of("default"), 1);
    return leases.claim(request).leases().getFirst().key().fence();
  }

  private UUID enqueue(String to) {
    return tenant.jobs().enqueue(EMAIL.job(new Email(to))).id();
  }

  private static WorkerListener onFinished(CountDownLatch latch) {
    return new WorkerListener() {
      @Override
      public void finished(Lease lease, FinishReply reply) {
        latch.countDown();
      }
    };
  }
}
