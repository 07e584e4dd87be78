package dev.holdfast.api;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.job.Item;
import dev.holdfast.job.Job;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Kind;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Outcome;
import dev.holdfast.job.Payload;
import dev.holdfast.job.Policy;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.job.Progress;
import dev.holdfast.job.RetryPolicy;
import dev.holdfast.lease.FinishReply;
import dev.holdfast.lease.Lease;
import dev.holdfast.server.TestServer;
import dev.holdfast.server.auth.Role;
import dev.holdfast.testkit.TestTenant;
import dev.holdfast.worker.JobContext;
import dev.holdfast.worker.Worker;
import dev.holdfast.worker.WorkerBuilder;
import dev.holdfast.worker.WorkerListener;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The same worker as on the database, somewhere else. */
class WorkerOverHttpTest {

  private static final Kind<Integer> WORK = Kind.of("work", Integer.class);

  private static final PolicyOverrides AT_ONCE =
      PolicyOverrides.NONE.withRetry(new RetryPolicy.Delays(List.of(Duration.ZERO)));

  @RegisterExtension final TestTenant tenant = new TestTenant();

  private HoldfastClient client;

  @BeforeEach
  void connect() {
    client = TestServer.shared().client(Role.ADMIN, tenant.name());
  }

  @AfterEach
  void isSound() {
    assertThat(tenant.invariants().check()).isEmpty();
  }

  @Test
  void two_hundred_jobs_succeed_with_progress_logs_and_items_and_every_third_after_a_retry()
      throws Exception {
    int jobs = 200;
    List<UUID> ids =
        client
            .enqueueAll(
                IntStream.range(0, jobs).mapToObj(i -> WORK.job(i).withPolicy(AT_ONCE)).toList())
            .stream()
            .map(each -> each.id())
            .toList();
    Ends ends = new Ends(jobs);

    try (Worker worker =
        worker().listen(ends).handleWithOutcome(WORK, WorkerOverHttpTest::work).start()) {
      ends.await();
    }

    for (int i = 0; i < jobs; i++) {
      Job job = tenant.job(ids.get(i));
      assertThat(job.state()).isEqualTo(JobState.SUCCEEDED);
      assertThat(job.result()).contains(new Payload(String.valueOf(i * 2)));
      assertThat(job.progress().cursor()).contains("page-" + i);
      assertThat(job.usage().inputTokens()).isEqualTo(i % 3 == 0 ? 10 : 5);
      assertThat(tenant.jobs().log(job.id())).contains("working on " + i);
      assertThat(tenant.jobs().items(job.id(), 10)).hasSize(1);
      assertThat(tenant.jobs().attempts(job.id())).hasSize(i % 3 == 0 ? 2 : 1);
    }
  }

  private static Outcome work(Integer number, JobContext job) {
    job.log("working on " + number);
    job.usage(5, 0);
    job.progress(Progress.NONE.withPercent(50));
    job.checkpoint("page-" + number);
    job.items(List.of(new Item("only", new Payload("{}"))));
    if (number % 3 == 0 && job.attempt() == 1) {
      throw new IllegalStateException("not the first time");
    }
    return Outcome.succeeded(job.payload(number * 2));
  }

  @Test
  void a_worker_that_has_nothing_to_do_waits_at_the_server_and_gets_what_comes() throws Exception {
    AtomicInteger claims = new AtomicInteger();
    CountDownLatch idle = new CountDownLatch(1);
    Ends ends =
        new Ends(3) {
          @Override
          public void claimed(int jobs, Duration took) {
            claims.incrementAndGet();
            idle.countDown();
          }
        };

    try (Worker worker = worker().listen(ends).handle(WORK, (number, job) -> {}).start()) {
      assertThat(idle.await(60, TimeUnit.SECONDS)).isTrue();
      long sinceNanos = System.nanoTime();
      int before = claims.get();
      for (int i = 0; i < 3; i++) {
        client.enqueue(WORK.job(i));
      }
      ends.await();
      long seconds = Duration.ofNanos(System.nanoTime() - sinceNanos).toSeconds();

      // One for each job at most, and one for each time that nothing came within two seconds.
      assertThat(claims.get() - before).isLessThanOrEqualTo((int) (3 + 1 + seconds / 2));
    }
  }

  @Test
  void a_handler_that_is_told_to_stop_can_still_say_how_far_it_came() throws Exception {
    CountDownLatch running = new CountDownLatch(1);
    UUID id =
        client
            .enqueue(WORK.job(1).withPolicy(PolicyOverrides.NONE.withOnStop(Policy.OnStop.PAUSE)))
            .id();
    Ends ends = new Ends(1);

    try (Worker worker =
        worker()
            .listen(ends)
            .configure(config -> config.withHeartbeatInterval(Duration.ofMillis(50)))
            .handle(
                WORK,
                (number, job) -> {
                  try {
                    running.countDown();
                    new CountDownLatch(1).await();
                  } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    job.checkpoint("as far as this");
                    throw e;
                  }
                })
            .start()) {
      assertThat(running.await(60, TimeUnit.SECONDS)).isTrue();
      client.stop(id, Because.NOTHING);
      ends.await();
    }

    assertThat(tenant.job(id).state()).isEqualTo(JobState.PAUSED);
    assertThat(tenant.job(id).progress().cursor()).contains("as far as this");
  }

  @Test
  void closing_hands_back_what_is_running_without_an_attempt() throws Exception {
    CountDownLatch running = new CountDownLatch(1);
    UUID id = client.enqueue(WORK.job(1)).id();

    Worker worker =
        worker()
            .configure(config -> config.withDrainTimeout(Duration.ZERO))
            .handle(
                WORK,
                (number, job) -> {
                  running.countDown();
                  new CountDownLatch(1).await();
                })
            .start();
    assertThat(running.await(60, TimeUnit.SECONDS)).isTrue();
    worker.close();

    assertThat(tenant.job(id).state()).isEqualTo(JobState.QUEUED);
    assertThat(tenant.job(id).attempt()).isZero();
  }

  @Test
  void arguments_that_cannot_be_read_fail_their_own_job_and_no_other() {
    UUID bad =
        tenant
            .jobs()
            .enqueue(NewJob.of("work", new Payload("[".repeat(5_000) + "]".repeat(5_000))))
            .id();
    UUID good = tenant.jobs().enqueue(WORK.job(1)).id();

    worker().handle(WORK, (number, job) -> {}).build().runDue();

    assertThat(tenant.job(good).state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(tenant.job(bad).errorCode()).isPresent();
  }

  @Test
  void a_handler_that_wants_a_transaction_of_the_database_fails_and_says_why() {
    UUID id = client.enqueue(WORK.job(1)).id();

    worker()
        .handle(WORK, (number, job) -> job.inTransaction(connection -> Payload.NULL))
        .build()
        .runDue();

    assertThat(tenant.job(id).errorMessage().orElseThrow()).contains("over HTTP");
  }

  private WorkerBuilder worker() {
    return client.worker().configure(config -> config.withName("far-away"));
  }

  /** Waits until so many jobs are at rest. */
  private static class Ends implements WorkerListener {
    private final CountDownLatch open;

    Ends(int jobs) {
      open = new CountDownLatch(jobs);
    }

    @Override
    public void finished(Lease lease, FinishReply reply) {
      if (reply instanceof FinishReply.Recorded(JobState state) && state != JobState.QUEUED) {
        open.countDown();
      }
    }

    void await() throws InterruptedException {
      assertThat(open.await(90, TimeUnit.SECONDS)).isTrue();
    }
  }
}
