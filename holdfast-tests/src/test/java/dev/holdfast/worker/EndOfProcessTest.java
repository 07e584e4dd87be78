package dev.holdfast.worker;

import static dev.holdfast.worker.ChildWorker.SLEEP;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.hold.EngineRig;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Kind;
import dev.holdfast.job.Policy.OnStop;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.schedule.Schedule;
import dev.holdfast.schedule.Trigger;
import dev.holdfast.slot.Slot;
import dev.holdfast.slot.SlotStatus;
import dev.holdfast.testkit.Covers;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** What becomes of a worker's jobs when its process ends, told with real processes. */
class EndOfProcessTest extends EngineRig {

  private static final Duration PATIENT = Duration.ofSeconds(60);
  private static final Duration IMPATIENT = Duration.ZERO;

  @Covers("B13")
  @Test
  void on_sigterm_a_running_job_ends_and_nothing_new_is_claimed() throws Exception {
    UUID running = enqueue(SLEEP.job(2));
    try (ChildWorker child = ChildWorker.start(tenant.name(), child(), PATIENT)) {
      child.await("runs job");
      child.terminate();
      child.await("is draining");
      UUID late = enqueue(SLEEP.job(0));
      child.awaitEnd();

      assertThat(tenant.job(running).state()).isEqualTo(JobState.SUCCEEDED);
      assertThat(tenant.job(late).state()).isEqualTo(JobState.QUEUED);
    }
  }

  @Covers("B13")
  @Test
  void what_still_runs_after_the_grace_period_is_handed_back_or_paused() throws Exception {
    UUID handedBack = enqueue(SLEEP.job(600));
    UUID paused = enqueue(SLEEP.job(600).withPolicy(PolicyOverrides.NONE.withOnStop(OnStop.PAUSE)));
    try (ChildWorker child = ChildWorker.start(tenant.name(), child(), IMPATIENT)) {
      child.await("runs job");
      child.await("runs job");
      child.terminate();
      child.awaitEnd();
    }

    assertThat(tenant.job(handedBack).state()).isEqualTo(JobState.QUEUED);
    assertThat(tenant.job(handedBack).attempt()).isZero();
    assertThat(tenant.job(paused).state()).isEqualTo(JobState.PAUSED);
    assertThat(tenant.job(paused).errorMessage())
        .contains("Job was interrupted: worker is closing");
  }

  @Test
  void a_worker_takes_over_at_once_from_one_on_its_machine_that_was_killed() throws Exception {
    UUID id = enqueue(SLEEP.job(600));
    try (ChildWorker child = ChildWorker.start(tenant.name(), child(), PATIENT)) {
      child.await("runs job");
      child.kill();
    }
    CountDownLatch again = new CountDownLatch(1);

    try (Worker next = tenant.worker().handle(SLEEP, (seconds, job) -> again.countDown()).start()) {
      again.await(); // long before the lease of thirty seconds is over
    }

    assertThat(tenant.job(id).state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(tenant.jobs().attempts(id))
        .extracting(attempt -> attempt.outcome())
        .containsExactly("lost", "succeeded");
  }

  @Covers({"D7", "D8"})
  @Test
  void a_scheduled_run_of_a_worker_that_was_killed_has_failed_when_the_next_one_starts()
      throws Exception {
    Schedule schedule = Schedule.of("brief", Trigger.cron("@daily"), SLEEP.job(600));
    tenant.schedules().put(schedule, ADA);
    tenant.schedules().trigger("brief", Optional.empty(), ADA);
    try (ChildWorker child = ChildWorker.start(tenant.name(), child(), PATIENT)) {
      child.await("runs job");
      child.kill();
    }
    Slot left = slot();

    List<Integer> counted = new CopyOnWriteArrayList<>();
    WorkerListener counter =
        new WorkerListener() {
          @Override
          public void runsRecovered(int runs) {
            counted.add(runs);
          }
        };

    try (Worker next =
        tenant.worker().listen(counter).handle(SLEEP, (seconds, job) -> {}).start()) {
      assertThat(counted).containsExactly(1);
      assertThat(left.status()).isEqualTo(SlotStatus.RUNNING);
      assertThat(slot().status()).isEqualTo(SlotStatus.FAILED);
      assertThat(slot().reason()).contains("worker_startup_recovery");
      assertThat(slot().finishedAt()).isPresent();
    }
    assertThat(tenant.query("SELECT status, error_message FROM {schema}.job_runs"))
        .containsExactly(Map.of("status", "failed", "error_message", "worker_startup_recovery"));
  }

  @Covers("D8")
  @Test
  void a_scheduled_run_that_was_lost_has_failed_when_a_worker_of_the_same_name_starts() {
    tenant.schedules().put(Schedule.of("brief", Trigger.cron("@daily"), SLEEP.job(600)), ADA);
    tenant.schedules().trigger("brief", Optional.empty(), ADA);
    claim(1); // by a worker of that name on some machine, of which nobody hears again
    startAndClose("worker");
    SlotStatus whileLeased = slot().status();
    tenant.advance(Duration.ofSeconds(31));
    reap();
    startAndClose("stranger");
    SlotStatus afterAStranger = slot().status();

    startAndClose("worker");

    assertThat(whileLeased).isEqualTo(SlotStatus.RUNNING);
    assertThat(afterAStranger).isEqualTo(SlotStatus.RUNNING);
    assertThat(slot().status()).isEqualTo(SlotStatus.FAILED);
    assertThat(slot().reason()).contains("worker_startup_recovery");
  }

  private void startAndClose(String name) {
    tenant
        .worker()
        .configure(config -> config.withName(name))
        .handle(Kind.of("other", String.class), (args, job) -> {})
        .start()
        .close();
  }

  // Its own in each test: under a name that others go by, nothing is taken over.
  private String child() {
    return "child-" + tenant.name();
  }

  private Slot slot() {
    return tenant.schedules().slots("brief", Optional.empty(), 1).getFirst();
  }

  @Test
  void a_worker_that_lives_keeps_its_jobs_when_another_starts() throws Exception {
    UUID id = enqueue(SLEEP.job(600));
    try (ChildWorker child = ChildWorker.start(tenant.name(), child(), IMPATIENT)) {
      child.await("runs job");
      long fence = tenant.job(id).fence();

      tenant.worker().handle(SLEEP, (seconds, job) -> {}).start().close();

      assertThat(tenant.job(id).state()).isEqualTo(JobState.RUNNING);
      assertThat(tenant.job(id).fence()).isEqualTo(fence);
    }
  }

  @Test
  void under_a_name_that_somebody_else_goes_by_nothing_is_taken_over() throws Exception {
    UUID id = enqueue(SLEEP.job(600));
    try (ChildWorker child = ChildWorker.start(tenant.name(), "twin", PATIENT);
        Worker twin =
            tenant
                .worker()
                .configure(config -> config.withName("twin"))
                .handle(Kind.of("other", String.class), (args, job) -> {})
                .start()) {
      child.await("runs job");
      child.kill();

      tenant.worker().handle(SLEEP, (seconds, job) -> {}).start().close();

      assertThat(tenant.job(id).state()).isEqualTo(JobState.RUNNING);
    }
  }

  @Test
  void the_grace_period_is_a_number_of_seconds() {
    assertThat(WorkerConfig.drainTimeout(null)).isEqualTo(Duration.ofMinutes(5));
    assertThat(WorkerConfig.drainTimeout("7")).isEqualTo(Duration.ofSeconds(7));
    assertThatThrownBy(() -> WorkerConfig.drainTimeout("soon"))
        .isInstanceOf(HoldfastException.class)
        .hasMessageContaining("SHUTDOWN_GRACE_PERIOD_SECONDS")
        .hasMessageContaining("soon");
    assertThatThrownBy(() -> WorkerConfig.drainTimeout("-1"))
        .hasMessageContaining("SHUTDOWN_GRACE_PERIOD_SECONDS")
        .hasMessageContaining("0 to 86400");
  }
}
