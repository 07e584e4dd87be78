package dev.holdfast.retention;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.audit.Act;
import dev.holdfast.job.AttemptRecord;
import dev.holdfast.job.Failure;
import dev.holdfast.job.Item;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Kind;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Outcome;
import dev.holdfast.job.Payload;
import dev.holdfast.job.Policy.OnFailure;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.lease.ClaimRequest;
import dev.holdfast.lease.LanePositions;
import dev.holdfast.lease.Lease;
import dev.holdfast.lease.PgLeases;
import dev.holdfast.lease.RemoteLeases;
import dev.holdfast.schedule.Schedule;
import dev.holdfast.schedule.Trigger;
import dev.holdfast.slot.Slot;
import dev.holdfast.testkit.TestTenant;
import java.time.Duration;
import java.time.Instant;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class HistoryTest {

  private static final Kind<Boolean> WORK = Kind.of("work", Boolean.class);

  @RegisterExtension final TestTenant tenant = new TestTenant();

  @Test
  void jobs_that_ended_well_are_kept_for_a_week_and_others_for_a_month() {
    UUID good = ended(WORK.job(true));
    UUID bad = ended(WORK.job(false));
    UUID cancelled = tenant.jobs().enqueue(WORK.job(true)).id();
    tenant.acts().cancel(cancelled, Act.by("ada"));

    tenant.advance(Duration.ofDays(6));
    prune();
    assertThat(remembered(good, bad, cancelled)).containsExactly(good, bad, cancelled);
    tenant.advance(Duration.ofDays(2));
    prune();
    assertThat(remembered(good, bad, cancelled)).containsExactly(bad, cancelled);
    tenant.advance(Duration.ofDays(23));
    prune();
    assertThat(remembered(good, bad, cancelled)).isEmpty();
  }

  @Test
  void everything_that_is_known_about_a_job_goes_with_it() {
    ended(WORK.job(true));
    tenant.advance(Duration.ofDays(8));

    prune();

    for (String table : List.of("job_done", "attempt", "job_log", "job_item", "idempotency")) {
      assertThat(tenant.query("SELECT * FROM {schema}." + table)).as(table).isEmpty();
    }
  }

  @Test
  void a_failed_job_that_blocks_its_target_stays_until_somebody_acts() {
    UUID bad =
        ended(
            WORK.job(false)
                .withTarget("crm")
                .withPolicy(PolicyOverrides.NONE.withOnFailure(OnFailure.HOLD)));
    tenant.advance(Duration.ofDays(400));

    prune();
    assertThat(remembered(bad)).containsExactly(bad);
    tenant.acts().cancel(bad, Act.by("ada").withForce());
    tenant.advance(Duration.ofDays(31));
    prune();

    assertThat(remembered(bad)).isEmpty();
  }

  @Test
  void a_job_whose_work_nobody_saw_stop_stays_as_long_as_it_may_go_on() {
    set("RETENTION_FAILED_SECONDS", 60);
    Duration lease = Duration.ofMinutes(10);
    UUID id =
        tenant
            .jobs()
            .enqueue(
                WORK.job(true)
                    .withResources("site:1")
                    .withPolicy(PolicyOverrides.NONE.withLeaseLength(lease)))
            .id();
    Lease running = leases().claim(ClaimRequest.of("w", Set.of("default"), 1)).leases().getFirst();
    tenant.acts().cancel(id, Act.by("ada").withForce());
    tenant.advance(Duration.ofMinutes(2));

    prune();
    assertThat(remembered(id)).containsExactly(id);
    assertThat(tenant.invariants().check()).isEmpty();
    succeed(running);
    assertThat(tenant.resources().get("site:1").holders())
        .as("it is over, says its worker")
        .isEmpty();
    prune();

    assertThat(remembered(id)).isEmpty();
  }

  @Test
  void a_claim_is_remembered_for_ten_minutes_and_as_long_as_its_lease_is_held() {
    tenant
        .jobs()
        .enqueue(
            WORK.job(true).withPolicy(PolicyOverrides.NONE.withLeaseLength(Duration.ofHours(1))));
    ClaimRequest request = ClaimRequest.of("w", Set.of("default"), 1).withClaimId("lost");
    Lease granted = leases().claim(request).leases().getFirst();

    tenant.advance(Duration.ofMinutes(59));
    prune();
    assertThat(leases().claim(request).leases())
        .extracting(Lease::key)
        .as("asked again")
        .containsExactly(granted.key());
    succeed(granted);
    assertThat(tenant.query("SELECT claim_id FROM {schema}.claim")).hasSize(1);
    prune();

    assertThat(tenant.query("SELECT claim_id FROM {schema}.claim")).isEmpty();
  }

  @Test
  void a_claim_is_remembered_however_long_its_lease_is_renewed() {
    tenant
        .jobs()
        .enqueue(
            WORK.job(true).withPolicy(PolicyOverrides.NONE.withLeaseLength(Duration.ofDays(1))));
    ClaimRequest request = ClaimRequest.of("w", Set.of("default"), 1).withClaimId("long");
    Lease granted = leases().claim(request).leases().getFirst();

    for (int day = 0; day < 4; day++) {
      tenant.advance(Duration.ofHours(23));
      leases().extend(List.of(granted));
      prune();
    }

    assertThat(leases().claim(request).leases())
        .extracting(Lease::key)
        .containsExactly(granted.key());
  }

  @Test
  void a_claim_whose_jobs_are_done_is_remembered_should_its_request_come_twice() {
    tenant.jobs().enqueue(WORK.job(true));
    ClaimRequest request = ClaimRequest.of("w", Set.of("default"), 1).withClaimId("twice");
    Lease granted = leases().claim(request).leases().getFirst();
    succeed(granted);
    tenant.jobs().enqueue(WORK.job(true));
    tenant.advance(Duration.ofMinutes(9));

    prune();

    assertThat(leases().claim(request).leases()).isEmpty();
  }

  private void succeed(Lease lease) {
    RemoteLeases.End end =
        new RemoteLeases.End(
            "w", lease.key().jobId(), lease.key().fence(), Outcome.succeeded(), Optional.empty());
    leases().remote().finish(List.of(end));
  }

  private PgLeases leases() {
    return new PgLeases(
        tenant.tenant(), Set::of, new LanePositions(System::nanoTime), () -> 0, () -> {});
  }

  @Test
  void a_slot_that_was_triggered_ahead_of_its_time_is_remembered_when_that_comes() {
    tenant.stopClock();
    tenant
        .schedules()
        .put(Schedule.of("brief", Trigger.cron("0 * * * *"), WORK.job(true)), Act.by("ada"));
    Instant ahead = tenant.schedules().next("brief", 3, Optional.empty()).getLast();
    set("RETENTION_SLOTS_SECONDS", 60);
    tenant.schedules().trigger("brief", Optional.of(ahead), Act.by("ada"));
    tenant.worker().handle(WORK, (args, context) -> {}).build().runDue();
    tenant.scheduler().runOnce();
    tenant.advance(Duration.ofMinutes(2));

    prune();
    assertThat(slots()).containsExactly(ahead);
    tenant.advance(Duration.ofHours(3));
    prune();

    assertThat(slots()).isEmpty();
  }

  private List<Instant> slots() {
    return tenant.schedules().slots("brief", Optional.empty(), 10).stream()
        .map(Slot::scheduledFor)
        .toList();
  }

  @Test
  void lines_are_kept_for_a_week_also_of_jobs_that_are_still_there() {
    UUID bad = ended(WORK.job(false));
    tenant.advance(Duration.ofDays(8));

    prune();

    assertThat(tenant.jobs().log(bad)).isEmpty();
    assertThat(tenant.job(bad).state()).isEqualTo(JobState.FAILED);
  }

  @Test
  void attempts_that_do_not_count_are_kept_for_a_week_and_others_as_long_as_their_job() {
    UUID id = tenant.jobs().enqueue(WORK.job(true)).id();
    List<Outcome> ends =
        List.of(
            Outcome.snoozed(Duration.ofSeconds(30)),
            Outcome.failed(Failure.retryable("FLAKY", "once")),
            Outcome.snoozed(Duration.ofDays(30)));
    Iterator<Outcome> next = ends.iterator();
    for (int attempt = 0; attempt < ends.size(); attempt++) {
      tenant.worker().handleWithOutcome(WORK, (well, context) -> next.next()).build().runDue();
      tenant.advance(Duration.ofHours(1));
    }
    tenant.advance(Duration.ofDays(6));
    prune();
    assertThat(tenant.jobs().attempts(id)).hasSize(3);
    tenant.advance(Duration.ofDays(2));

    prune();

    assertThat(tenant.jobs().attempts(id))
        .extracting(AttemptRecord::outcome)
        .containsExactly("failed");
    assertThat(tenant.job(id).state()).isEqualTo(JobState.QUEUED);
    assertThat(tenant.invariants().check()).isEmpty();
  }

  @Test
  void what_the_tenants_settings_say_is_in_force_at_once() {
    UUID good = ended(WORK.job(true));
    UUID bad = ended(WORK.job(false));
    tenant.advance(Duration.ofMinutes(3));
    set("RETENTION_SUCCEEDED_SECONDS", 120);
    set("RETENTION_LOGS_SECONDS", 120);

    prune();
    assertThat(remembered(good, bad)).containsExactly(bad);
    assertThat(tenant.jobs().log(bad)).isEmpty();
    set("RETENTION_FAILED_SECONDS", 120);
    prune();

    assertThat(remembered(good, bad)).isEmpty();
  }

  @Test
  void waiting_and_paused_jobs_are_never_pruned() {
    UUID waiting = tenant.jobs().enqueue(WORK.job(true)).id();
    UUID paused = tenant.jobs().enqueue(WORK.job(true)).id();
    tenant.acts().pause(paused, Act.by("ada"));
    tenant.advance(Duration.ofDays(4000));

    prune();

    assertThat(remembered(waiting, paused)).containsExactly(waiting, paused);
  }

  @Test
  void a_table_of_many_pages_is_pruned_to_its_end() {
    tenant
        .jobs()
        .enqueueAll(
            IntStream.range(0, 1_000)
                .mapToObj(i -> NewJob.of("large", "x".repeat(20_000)).withTags("t" + i))
                .toList());
    tenant.execute("ALTER TABLE {schema}.job_done ALTER COLUMN args SET STORAGE EXTERNAL");
    tenant.worker().handle(Kind.of("large", String.class), (args, context) -> {}).build().runDue();
    tenant.execute("UPDATE {schema}.job_done SET tags = ARRAY[repeat('wide', 1000)]");
    tenant.advance(Duration.ofDays(8));

    prune();

    assertThat(tenant.query("SELECT count(*) AS rows FROM {schema}.job_done"))
        .extracting(row -> row.get("rows"))
        .containsExactly(0L);
  }

  private UUID ended(NewJob job) {
    UUID id = tenant.jobs().enqueue(job).id();
    tenant
        .worker()
        .handleWithOutcome(
            WORK,
            (well, context) -> {
              context.log("working");
              context.usage(1, 1);
              context.items(List.of(new Item("a", new Payload("1"))));
              return well ? Outcome.succeeded() : Outcome.failed(Failure.permanent("BAD", "no"));
            })
        .build()
        .runDue();
    return id;
  }

  private List<UUID> remembered(UUID... ids) {
    return List.of(ids).stream().filter(id -> tenant.jobs().get(id).isPresent()).toList();
  }

  private void set(String name, int value) {
    tenant.execute(
        "INSERT INTO {schema}.setting (name, value) VALUES ('%s', '%d')".formatted(name, value));
  }

  private void prune() {
    new HistoryPruner(tenant.tenant().db(), Retention.DEFAULTS).prune();
  }
}
