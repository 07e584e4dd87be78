package dev.holdfast.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.JobState;
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
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** Slots fire at most once, in their order, and each of them ends as something. */
class SlotsTest extends SlotsRig {

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

  @Covers("D4")
  @Test
  void the_runs_have_the_columns_and_indexes_of_the_document() {
    assertThat(
            tenant.query(
                """
                SELECT column_name || ' ' || data_type
                         || coalesce(' ' || character_maximum_length, '') AS shape
                  FROM information_schema.columns
                 WHERE table_schema || '.job_runs' = '{schema}.job_runs'
                   AND table_name = 'job_runs'
                 ORDER BY ordinal_position
                """))
        .extracting(column -> column.get("shape"))
        .containsExactly(
            "id bigint",
            "job_name character varying 128",
            "scheduled_for timestamp with time zone",
            "started_at timestamp with time zone",
            "finished_at timestamp with time zone",
            "status text",
            "worker_instance character varying 128",
            "error_message text");
    assertThat(
            tenant.query(
                """
                SELECT regexp_replace(indexdef, '.* USING ', '') AS shape
                  FROM pg_indexes
                 WHERE schemaname || '.slot' = '{schema}.slot' AND tablename = 'slot'
                """))
        .extracting(index -> index.get("shape"))
        .contains(
            "btree (id)",
            "btree (schedule, scheduled_for)",
            "btree (status)",
            "btree (started_at)");
  }

  @Covers("D4")
  @Test
  void a_run_has_a_status_of_the_document_whatever_its_slot_is() {
    for (SlotStatus status : SlotStatus.values()) {
      tenant.execute(
          """
          INSERT INTO {schema}.slot (schedule, scheduled_for, status, reason, decided_at, started_at)
          VALUES ('%1$s', now(), '%1$s', 'because', now(), now())
          """
              .formatted(status.stored()));
    }

    assertThat(runs())
        .extracting(run -> run.get("job_name") + " " + run.get("status"))
        .contains(
            "queued running",
            "running running",
            "ran success",
            "failed failed",
            "skipped_timeout skipped_timeout");
    tenant.execute("DELETE FROM {schema}.slot");
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

  @Covers("D1")
  @Test
  void a_process_without_a_scheduler_never_decides_about_a_slot() {
    tenant.schedules().put(MINUTELY, ADA);
    tenant.advance(Duration.ofHours(1));

    try (Worker worker = tenant.worker().handle(BRIEF, (args, job) -> {}).start()) {
      worker.runDue();
      tenant.jobs().enqueue(BRIEF.job(2));
      worker.runDue();
    }

    assertThat(slots()).isEmpty();
    assertThat(tenant.schedules().get("brief").orElseThrow().nextAt().orElseThrow())
        .isBefore(Instant.now().plus(Duration.ofMinutes(2)));
  }

  @Covers("D2")
  @Test
  void two_thousand_slots_fire_once_each_however_many_nodes_tick() throws Exception {
    tenant.schedules().put(secondly("brief"), ADA);
    tenant.schedules().put(secondly("other"), ADA);
    List<Callable<Duration>> nodes = new ArrayList<>();
    for (int node = 0; node < 5; node++) {
      nodes.add(tenant.scheduler()::runOnce);
    }

    try (ExecutorService threads = Executors.newFixedThreadPool(5)) {
      for (int round = 0; round < 11; round++) {
        tenant.advance(Duration.ofSeconds(100));
        for (Future<Duration> node : threads.invokeAll(nodes)) {
          node.get();
        }
      }
    }
    tenant.scheduler().runOnce();

    // A thousand of each may be open, so that is how many fire, and the rest are skipped.
    assertThat(count("SELECT count(*) AS n FROM {schema}.job")).isEqualTo(2_000);
    assertThat(count("SELECT count(DISTINCT job_id) AS n FROM {schema}.slot")).isEqualTo(2_000);
    assertThat(count("SELECT count(*) AS n FROM {schema}.slot WHERE status = 'skipped_overlap'"))
        .isGreaterThanOrEqualTo(200);
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
  }

  private static Schedule secondly(String name) {
    return Schedule.of(name, Trigger.cron("* * * * * *"), BRIEF.job(1))
        .withCoalesce(false)
        .withMisfireGrace(Duration.ofDays(1))
        .withMaxInstances(1_000);
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

  @Covers("D11")
  @Test
  void a_slot_that_is_triggered_ahead_of_its_time_runs_now_and_is_not_fired_again() {
    Instant next = tenant.schedules().put(MINUTELY, ADA).nextAt().orElseThrow();
    List<Integer> ran = new ArrayList<>();
    Worker worker = tenant.worker().handle(BRIEF, (args, job) -> ran.add(args)).build();

    tenant.schedules().trigger("brief", Optional.of(next.plus(Duration.ofMinutes(1))), ADA);
    worker.runDue();
    tick();
    worker.runDue();
    tick();
    worker.runDue();

    assertThat(ran).hasSize(2);
    assertThat(slots()).extracting(Slot::status).containsExactly(SlotStatus.RAN, SlotStatus.RAN);
    assertThat(tenant.audit().latest(10).toString()).contains("slot " + next.plusSeconds(60));
  }

  @Test
  void a_schedule_that_cannot_be_decided_about_keeps_no_other_from_its_slots() {
    tenant.schedules().put(Schedule.of("bad", Trigger.cron("* * * * *"), BRIEF.job(1)), ADA);
    tenant.schedules().put(MINUTELY, ADA);
    tenant.execute("UPDATE {schema}.schedule SET timezone = 'Not/AZone' WHERE name = 'bad'");
    tenant.advance(Duration.ofMinutes(1));

    tenant.scheduler().runOnce();
    Duration pause = tenant.scheduler().runOnce();

    assertThat(slots()).hasSize(1);
    assertThat(pause).isGreaterThan(Duration.ofMillis(400));
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
    Scheduler scheduler = tenant.scheduler();
    Duration pause = scheduler.runOnce(); // a portion; so that others have their turn
    scheduler.runOnce();

    assertThat(pause).isZero();
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

  private int count(String sql) {
    return Integer.parseInt(String.valueOf(tenant.query(sql).getFirst().get("n")));
  }
}
