package dev.holdfast.worker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.codec.JacksonCodec;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Kind;
import dev.holdfast.testkit.TestTenant;
import dev.holdfast.wake.Bell;
import dev.holdfast.worker.WorkerDependencies.Background;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

class DrainTest {

  private static final Kind<String> WORK = Kind.of("work", String.class);
  private static final int BEATS = 5;

  @RegisterExtension final TestTenant tenant = new TestTenant();

  private final CountDownLatch begun = new CountDownLatch(1);
  private final CountDownLatch mayEnd = new CountDownLatch(1);

  @Test
  @Timeout(value = 60, unit = TimeUnit.SECONDS)
  void a_worker_that_drains_renews_its_leases_until_its_last_job_is_done() throws Exception {
    Worker worker =
        tenant
            .worker()
            .configure(config -> config.withHeartbeatInterval(Duration.ofMillis(50)))
            .handle(
                WORK,
                (args, job) -> {
                  begun.countDown();
                  mayEnd.await();
                })
            .start();
    UUID id = tenant.jobs().enqueue(WORK.job("long")).id();
    begun.await();
    Thread closing = Thread.ofPlatform().start(worker::close);
    while (closing.getState() != Thread.State.WAITING
        && closing.getState() != Thread.State.TIMED_WAITING) {
      Thread.onSpinWait(); // until it waits for the handler
    }

    // One beat may have been under way; more come from a heart that goes on.
    Set<String> expiries = new HashSet<>();
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    while (expiries.size() < BEATS && System.nanoTime() < deadline) {
      tenant.advance(Duration.ofMillis(1));
      expiries.addAll(
          tenant.query("SELECT lease_expires_at::text AS at FROM {schema}.job").stream()
              .map(String::valueOf)
              .toList());
    }
    mayEnd.countDown();
    closing.join();

    assertThat(expiries).hasSizeGreaterThanOrEqualTo(BEATS);
    assertThat(tenant.job(id).state()).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  @Timeout(value = 60, unit = TimeUnit.SECONDS)
  void whoever_is_interrupted_while_it_drains_leaves_no_handler_working_without_a_lease()
      throws Exception {
    CountDownLatch told = new CountDownLatch(1);
    AtomicBoolean hurried = new AtomicBoolean();
    Worker worker =
        tenant
            .worker()
            .handle(
                WORK,
                (args, job) -> {
                  begun.countDown();
                  try {
                    mayEnd.await();
                  } catch (InterruptedException e) {
                    told.countDown();
                    throw e;
                  }
                })
            .start();
    UUID id = tenant.jobs().enqueue(WORK.job("long")).id();
    begun.await();

    Thread closing =
        Thread.ofPlatform()
            .start(() -> {
              worker.close();
              hurried.set(Thread.currentThread().isInterrupted());
            });
    closing.interrupt();
    closing.join();

    assertThat(told.getCount()).as("handlers that were not told").isZero();
    assertThat(tenant.job(id).state()).isEqualTo(JobState.QUEUED);
    assertThat(tenant.job(id).attempt()).as("counted").isZero();
    assertThat(hurried).as("its thread is still interrupted").isTrue();
  }

  @Test
  @Timeout(60)
  void a_worker_whose_last_outcomes_fail_with_an_error_stops_all_the_same() throws Exception {
    FailingLeases leases = new FailingLeases();
    leases.broken = true;
    leases.toGrant.add(FailingLeases.lease(FailingLeases.LEASE));
    AtomicBoolean stopped = new AtomicBoolean();
    Background background = () -> () -> stopped.set(true);
    Worker worker =
        new WorkerBuilder(
                new JacksonCodec(),
                (config, kinds, listener) ->
                    new WorkerDependencies(leases, leases, new Bell(), List.of(background)))
            .configure(config -> config.withDrainTimeout(Duration.ZERO))
            .handle(Kind.of("kind", Object.class), (args, job) -> begun.countDown())
            .start();
    begun.await();

    worker.close();

    assertThat(stopped).isTrue();
  }
}
