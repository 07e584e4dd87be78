package dev.holdfast.worker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.audit.Act;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Item;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Outcome;
import dev.holdfast.job.Payload;
import dev.holdfast.job.Policy;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.job.Progress;
import dev.holdfast.lease.FinishReply;
import dev.holdfast.lease.Lease;
import dev.holdfast.testkit.Covers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** Handlers that are stopped: by a drain, by a person, or because their lease was lost. */
class StoppedHandlersTest extends EmailRig {

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

  private static WorkerListener onFinished(CountDownLatch latch) {
    return new WorkerListener() {
      @Override
      public void finished(Lease lease, FinishReply reply) {
        latch.countDown();
      }
    };
  }

  @Test
  void a_handler_that_stores_items_under_a_lost_lease_is_told_to_stop_and_has_not_failed() {
    assertLossEndsTheWork(job -> {
      var unused = job.items(List.of(new Item("key", Payload.NULL)));
    });
  }

  @Test
  void a_handler_that_commits_under_a_lost_lease_is_told_to_stop_and_has_not_failed() {
    assertLossEndsTheWork(job -> job.inTransaction(connection -> Payload.NULL));
  }

  private void assertLossEndsTheWork(Report report) {
    UUID id = enqueue("ada");
    List<Boolean> told = new ArrayList<>();
    List<Outcome> outcomes = new ArrayList<>();
    List<Throwable> failures = new ArrayList<>();
    Worker worker =
        tenant
            .worker()
            .listen(
                new WorkerListener() {
                  @Override
                  public void failed(Lease lease, Throwable thrown) {
                    failures.add(thrown);
                  }

                  @Override
                  public void ended(Lease lease, Outcome outcome, Duration ran) {
                    outcomes.add(outcome);
                  }
                })
            .handle(
                EMAIL,
                (email, job) -> {
                  if (told.isEmpty()) { // the first time
                    tenant.acts().requeue(id, Act.by("ada").withForce());
                    try {
                      report.by(job);
                    } finally {
                      told.add(job.shouldStop() && Thread.currentThread().isInterrupted());
                    }
                  }
                })
            .build();

    worker.runDue();

    assertThat(told).containsExactly(true);
    assertThat(outcomes)
        .hasExactlyElementsOfTypes(Outcome.LeaseExpired.class, Outcome.Succeeded.class);
    assertThat(failures).isEmpty();
    assertThat(tenant.job(id).state()).isEqualTo(JobState.SUCCEEDED);
  }

  /** What a handler does that takes a lease. */
  @FunctionalInterface
  private interface Report {
    void by(JobContext job) throws Exception;
  }
}
