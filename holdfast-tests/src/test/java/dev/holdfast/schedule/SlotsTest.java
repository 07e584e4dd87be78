package dev.holdfast.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.hold.EngineTest;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Kind;
import dev.holdfast.slot.Slot;
import dev.holdfast.slot.SlotStatus;
import dev.holdfast.testkit.Covers;
import dev.holdfast.worker.Worker;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Slots fire at most once, in their order, and each of them ends as something. */
class SlotsTest extends EngineTest {

  private static final Kind<Integer> BRIEF = Kind.of("brief", Integer.class);
  private static final Schedule MINUTELY =
      Schedule.of("brief", Trigger.cron("* * * * *"), BRIEF.job(1));

  @AfterEach
  void isSound() {
    assertThat(tenant.invariants().check()).isEmpty();
  }

  @Covers({"D2", "D4", "D6"})
  @Test
  void a_slot_that_ran_is_in_the_ledger_and_among_the_runs_of_the_document() {
    tenant.schedules().put(MINUTELY, ADA);
    Worker worker = tenant.worker().handle(BRIEF, (args, job) -> {}).build();
    tenant.advance(Duration.ofMinutes(1));

    tenant.scheduler().runOnce();
    Slot queued = slot();
    worker.runDue();
    tenant.scheduler().runOnce();

    assertThat(queued.status()).isEqualTo(SlotStatus.QUEUED);
    assertThat(slot().status()).isEqualTo(SlotStatus.RAN);
    assertThat(slot().scheduledFor().getEpochSecond() % 60).isZero();
    Map<String, Object> run = runs().getFirst();
    assertThat(run).containsEntry("job_name", "brief").containsEntry("status", "success");
    assertThat(run.get("worker_instance")).isNotNull();
    assertThat(run.get("finished_at")).isNotNull();
    assertThat(run.get("error_message")).isNull();
  }

  @Covers("D6")
  @Test
  void a_slot_whose_job_failed_or_was_cancelled_has_failed_with_a_message() {
    tenant.schedules().put(MINUTELY, ADA);
    Worker worker =
        tenant
            .worker()
            .handle(
                BRIEF,
                (args, job) -> {
                  throw new IllegalStateException("no feed");
                })
            .build();
    tick();
    worker.runDue();
    tick();
    tenant.acts().cancel(slot().jobId().orElseThrow(), ADA);

    List<Slot> slots = slots();
    assertThat(slots).extracting(Slot::status).containsOnly(SlotStatus.FAILED);
    assertThat(slots.getLast().reason().orElseThrow()).contains("no feed");
    assertThat(slots.getFirst().reason()).isPresent();
    assertThat(runs()).extracting(run -> run.get("status")).containsExactly("failed");
  }

  @Covers({"D2", "D1"})
  @Test
  void a_slot_fires_once_however_many_nodes_tick() throws Exception {
    Schedule secondly =
        Schedule.of("brief", Trigger.cron("* * * * * *"), BRIEF.job(1))
            .withCoalesce(false)
            .withMisfireGrace(Duration.ofDays(1))
            .withMaxInstances(1_000);
    Schedule other =
        Schedule.of("other", secondly.trigger(), BRIEF.job(2))
            .withCoalesce(false)
            .withMisfireGrace(Duration.ofDays(1))
            .withMaxInstances(1_000);
    tenant.schedules().put(secondly, ADA);
    tenant.schedules().put(other, ADA);
    List<Scheduler> nodes = new ArrayList<>();
    for (int node = 0; node < 5; node++) {
      nodes.add(tenant.scheduler());
    }

    int fired = 0;
    try (ExecutorService threads = Executors.newFixedThreadPool(5)) {
      while (fired < 2_000) {
        tenant.advance(Duration.ofSeconds(100));
        threads.invokeAll(nodes.stream().map(node -> (Callable<Duration>) node::runOnce).toList());
        fired = count("SELECT count(*) AS n FROM {schema}.slot WHERE job_id IS NOT NULL");
        tenant.execute("UPDATE {schema}.slot SET status = 'ran'"); // or they would be too many
      }
    }

    assertThat(count("SELECT count(*) AS n FROM {schema}.job")).isEqualTo(fired);
    assertThat(count("SELECT count(DISTINCT id) AS n FROM {schema}.job")).isEqualTo(fired);
    // One a second, and none left out.
    assertThat(
            count(
                """
                SELECT count(*) AS n
                  FROM (SELECT scheduled_for - lag(scheduled_for)
                                 OVER (PARTITION BY schedule ORDER BY scheduled_for) AS step
                          FROM {schema}.slot) AS steps
                 WHERE step <> interval '1 second'
                """))
        .isZero();
    tenant.execute("UPDATE {schema}.slot SET status = 'queued'");
  }

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

  @Covers("D11")
  @Test
  void a_trigger_by_hand_takes_a_slot_like_any_other() {
    tenant.schedules().put(MINUTELY.withMaxInstances(2), ADA);
    Instant slot = Instant.parse("2026-01-01T00:00:00Z");

    UUID job = tenant.schedules().trigger("brief", Optional.of(slot.plusMillis(1)), ADA);

    assertThat(tenant.job(job).state()).isEqualTo(JobState.QUEUED);
    assertThat(slot().scheduledFor()).isEqualTo(slot);
    conflict("already claimed", Optional.of(slot));
    tenant.schedules().trigger("brief", Optional.empty(), ADA);
    conflict("2 of at most 2 runs are not over", Optional.of(slot.plusSeconds(1)));
    assertThat(slots()).hasSize(2);
    assertThatExceptionOfType(HoldfastException.class)
        .isThrownBy(() -> tenant.schedules().trigger("nobody", Optional.empty(), ADA))
        .satisfies(refusal -> assertThat(refusal.code()).isEqualTo(ErrorCode.NOT_FOUND));
  }

  @Test
  void a_slot_that_was_triggered_ahead_of_its_time_is_not_fired_again() {
    Instant next = tenant.schedules().put(MINUTELY, ADA).nextAt().orElseThrow();
    tenant.schedules().trigger("brief", Optional.of(next), ADA);

    tick();

    assertThat(slots()).hasSize(1);
    assertThat(count("SELECT count(*) AS n FROM {schema}.job")).isEqualTo(1);
  }

  @Test
  void the_clock_of_the_node_decides_nothing() {
    // The test's database clock is an hour ahead of this node's.
    tenant.advance(Duration.ofHours(1));
    tenant.schedules().put(MINUTELY, ADA);

    tick();

    Instant ahead = Instant.now().plus(Duration.ofMinutes(59));
    assertThat(slots()).hasSize(1);
    assertThat(slot().scheduledFor()).isAfter(ahead);
  }

  @Test
  void every_slot_of_an_outage_ends_as_something() {
    tenant.schedules().put(MINUTELY, ADA);

    tenant.advance(Duration.ofHours(30));
    tenant.scheduler().runOnce();

    Map<String, Object> all =
        tenant
            .query(
                """
                SELECT count(*) FILTER (WHERE status = 'skipped_misfire') AS misfired,
                       count(*) FILTER (WHERE status = 'coalesced') AS merged,
                       count(*) FILTER (WHERE status = 'queued') AS queued
                  FROM {schema}.slot
                """)
            .getFirst();
    assertThat(String.valueOf(all.get("misfired"))).isBetween("1793", "1796");
    assertThat(String.valueOf(all.get("merged"))).isBetween("3", "5");
    assertThat(all).containsEntry("queued", 1L);
  }

  private void conflict(String words, Optional<Instant> slot) {
    assertThatExceptionOfType(HoldfastException.class)
        .isThrownBy(() -> tenant.schedules().trigger("brief", slot, ADA))
        .withMessageContaining(words)
        .satisfies(refusal -> assertThat(refusal.code()).isEqualTo(ErrorCode.STATE_CONFLICT));
  }

  /** Claims the job as a worker does that is never heard of again. */
  private void startAndVanish() {
    assertThat(claim(1)).hasSize(1);
    tenant.advance(Duration.ofSeconds(31));
    reap();
  }

  private void tick() {
    tenant.advance(Duration.ofMinutes(1));
    tenant.scheduler().runOnce();
  }

  private Slot slot() {
    return slots().getFirst();
  }

  private List<Slot> slots() {
    return tenant.schedules().slots("brief", Optional.empty(), 100);
  }

  private List<Map<String, Object>> runs() {
    return tenant.query("SELECT * FROM {schema}.job_runs ORDER BY scheduled_for");
  }

  private int count(String sql) {
    return Integer.parseInt(String.valueOf(tenant.query(sql).getFirst().get("n")));
  }
}
