package dev.holdfast.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.job.JobState;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.job.RetryPolicy;
import dev.holdfast.lease.Lease;
import dev.holdfast.slot.Slot;
import dev.holdfast.slot.SlotStatus;
import dev.holdfast.slot.Slots;
import dev.holdfast.testkit.Covers;
import dev.holdfast.worker.Worker;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** A run that is not over keeps the next slot waiting, until it ends or is given up. */
class OverlappingRunsTest extends SlotsRig {

  @Covers("D3")
  @Test
  void a_run_that_is_not_over_keeps_the_next_slot_from_running() {
    tenant.schedules().put(MINUTELY, ADA);
    tick();

    tick();

    assertThat(slots())
        .extracting(Slot::status)
        .containsExactly(SlotStatus.SKIPPED_OVERLAP, SlotStatus.QUEUED);
    assertThat(slot().reason()).contains("1 of at most 1 runs are not over");
  }

  @Covers("D3")
  @Test
  void two_jobs_of_one_schedule_never_run_at_the_same_time_whoever_enqueued_them() {
    tenant.schedules().put(MINUTELY.withMaxInstances(2), ADA);
    tick();
    tick();
    tenant.schedules().put(MINUTELY, ADA);
    List<Integer> beside = new ArrayList<>();
    Worker inner = tenant.worker().handle(BRIEF, (args, job) -> beside.add(1)).build();
    Worker worker =
        tenant
            .worker()
            .handle(
                BRIEF,
                (args, job) -> {
                  inner.runDue();
                  beside.add(0);
                })
            .build();

    worker.runDue();

    assertThat(beside).containsExactly(0, 0);
  }

  @Covers({"D5", "D7"})
  @Test
  void a_run_whose_worker_vanished_stays_until_the_next_slot_after_the_threshold_gives_it_up() {
    tenant.schedules().put(MINUTELY, ADA);
    tick();
    startAndVanish();

    tick(); // five minutes are expected, so ten are the limit
    SlotStatus early = slots().getLast().status();
    SlotStatus meanwhile = slot().status();
    tenant.advance(Duration.ofMinutes(10));
    tenant.scheduler().runOnce();

    assertThat(early).isEqualTo(SlotStatus.RUNNING);
    assertThat(meanwhile).isEqualTo(SlotStatus.SKIPPED_OVERLAP);
    assertThat(slots().getLast().status()).isEqualTo(SlotStatus.SKIPPED_TIMEOUT);
    assertThat(slot().status()).isEqualTo(SlotStatus.QUEUED);
    assertThat(runs().getFirst())
        .containsEntry("status", "skipped_timeout")
        .containsEntry("error_message", "still running after 600 seconds");
  }

  @Covers("D2")
  @Test
  void no_unique_key_of_a_strangers_keeps_a_slot_from_its_run() {
    Instant next = tenant.schedules().put(MINUTELY, ADA).nextAt().orElseThrow();
    NewJob strangers =
        NewJob.of("stranger", 1)
            .withResources("schedule:brief")
            .withUniqueKey("slot:brief@" + next);
    enqueue(strangers);
    List<Integer> ran = new ArrayList<>();
    Worker worker = tenant.worker().handle(BRIEF, (args, job) -> ran.add(args)).build();

    tick();
    worker.runDue();
    boolean storedAgain = tenant.jobs().enqueue(strangers).created();

    assertThat(slot().scheduledFor()).isEqualTo(next);
    assertThat(slot().status()).isEqualTo(SlotStatus.RAN);
    assertThat(ran).containsExactly(1);
    assertThat(storedAgain).isFalse();
  }

  @Test
  void a_slot_whose_job_was_never_stored_does_not_stop_its_schedule() {
    tenant.schedules().put(MINUTELY, ADA);
    tick();
    tenant.execute("DELETE FROM {schema}.job"); // as earlier versions did, given a stranger's key

    new Slots(tenant.tenant().db()).endOrphans();
    tick();

    assertThat(slots())
        .extracting(Slot::status)
        .containsExactly(SlotStatus.QUEUED, SlotStatus.FAILED);
    assertThat(slots().getLast().reason()).contains("its job was never stored");
  }

  @Covers("D2")
  @Test
  void a_slot_that_is_forgotten_but_whose_job_is_not_cannot_be_taken_again() {
    tenant.schedules().put(MINUTELY.withMaxInstances(2), ADA);
    Instant slot = Instant.parse("2026-01-01T00:00:00Z");
    UUID job = tenant.schedules().trigger("brief", Optional.of(slot), ADA);
    tenant.execute("DELETE FROM {schema}.slot");

    conflict("job " + job + " is still there", Optional.of(slot));

    assertThat(slots()).isEmpty();
  }

  @Test
  void the_slot_of_a_job_that_waits_for_its_next_attempt_is_not_over_and_ends_as_that_does() {
    tenant
        .schedules()
        .put(
            Schedule.of(
                    "brief",
                    Trigger.cron("* * * * *"),
                    BRIEF
                        .job(1)
                        .withPolicy(
                            PolicyOverrides.NONE
                                .withMaxAttempts(2)
                                .withRetry(new RetryPolicy.Delays(List.of(Duration.ofHours(1))))))
                .withExpectedRuntime(Duration.ofMinutes(1)),
            ADA);
    List<Integer> tries = new ArrayList<>();
    Worker worker =
        tenant
            .worker()
            .handle(
                BRIEF,
                (args, job) -> {
                  tries.add(job.attempt());
                  if (tries.size() == 1) {
                    throw new IllegalStateException("no feed");
                  }
                })
            .build();
    tick();
    worker.runDue();
    tenant.advance(Duration.ofMinutes(30));
    tenant.scheduler().runOnce(); // long past twice the expected runtime
    Slot waiting = slots().getLast();
    SlotStatus meanwhile = slot().status();
    tenant.advance(Duration.ofMinutes(31));
    worker.runDue();

    assertThat(waiting.status()).isEqualTo(SlotStatus.QUEUED);
    assertThat(runs().getFirst()).containsEntry("status", "success");
    assertThat(meanwhile).isEqualTo(SlotStatus.SKIPPED_OVERLAP);
    assertThat(slots().getLast().status()).isEqualTo(SlotStatus.RAN);
    assertThat(tries).containsExactly(1, 2);
  }

  @Covers("D10")
  @Test
  void a_slot_that_no_worker_began_in_time_is_skipped_and_lets_the_next_one_run() {
    tenant.schedules().put(MINUTELY, ADA);
    tick();
    UUID first = slot().jobId().orElseThrow();

    tenant.advance(Duration.ofHours(3));
    tenant.scheduler().runOnce();

    assertThat(slots().getLast().status()).isEqualTo(SlotStatus.SKIPPED_MISFIRE);
    assertThat(slots().getLast().reason().orElseThrow()).contains("no worker began it");
    assertThat(tenant.job(first).state()).isEqualTo(JobState.CANCELLED);
    assertThat(slot().status()).isEqualTo(SlotStatus.QUEUED);
    assertThat(runs()).isEmpty();
  }

  @Test
  void a_run_that_was_given_up_and_ends_all_the_same_has_ended() {
    tenant.schedules().put(MINUTELY, ADA);
    tick();
    Lease late = claim(1).getFirst();
    tenant.advance(Duration.ofMinutes(15));
    leases().extend(List.of(late));
    tenant.scheduler().runOnce();
    SlotStatus givenUp = slots().getLast().status();

    succeed(late);

    assertThat(givenUp).isEqualTo(SlotStatus.SKIPPED_TIMEOUT);
    assertThat(slots().getLast().status()).isEqualTo(SlotStatus.RAN);
  }

  @Test
  void a_run_whose_worker_vanished_ends_also_when_its_schedule_is_no_more() {
    tenant.schedules().put(MINUTELY, ADA);
    tick();
    startAndVanish();
    SlotStatus left = slots().getLast().status();
    tenant.schedules().delete("brief", ADA);

    new Slots(tenant.tenant().db()).endOrphans();

    assertThat(left).isEqualTo(SlotStatus.RUNNING);
    assertThat(slots().getLast().status()).isEqualTo(SlotStatus.FAILED);
  }

  /** Claims the job as a worker does that is never heard of again. */
  private void startAndVanish() {
    assertThat(claim(1)).hasSize(1);
    tenant.advance(Duration.ofSeconds(31));
    reap();
  }
}
