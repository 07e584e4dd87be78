package dev.holdfast.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.holdfast.audit.Act;
import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Payload;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.job.TraceContext;
import dev.holdfast.schedule.Dst.Missing;
import dev.holdfast.schedule.Dst.Twice;
import dev.holdfast.slot.Slot;
import dev.holdfast.slot.SlotStatus;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.testkit.TestTenant;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.FutureTask;
import java.util.stream.IntStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** How schedules are made, changed and looked at. */
class SchedulesTest {

  private static final Act ADA = Act.by("ada");
  private static final String TRACE_PARENT =
      "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  private static final NewJob JOB = NewJob.of("brief", List.of(1, 2));
  private static final Schedule MINUTELY = Schedule.of("brief", Trigger.cron("* * * * *"), JOB);

  @RegisterExtension final TestTenant tenant = new TestTenant();

  // Or a minute could begin between two lines of a test, and bring a slot along.
  @BeforeEach
  void stopTheClock() {
    tenant.stopClock();
  }

  @Test
  void whoever_enables_a_schedule_undoes_no_change_that_came_first() throws Exception {
    tenant.schedules().put(MINUTELY, ADA);
    String change =
        tenant.tenant().db().sql("UPDATE {schema}.schedule SET expected_runtime_ms = 7000");
    try (Connection other = TestDatabase.shared().dataSource().getConnection();
        Statement statement = other.createStatement()) {
      other.setAutoCommit(false);
      statement.execute(change);
      FutureTask<Planned> enabling =
          new FutureTask<>(() -> tenant.schedules().enable("brief", false, ADA));
      var unused = Thread.startVirtualThread(enabling);
      while (!isWaitedFor(statement)) {
        Thread.onSpinWait();
      }
      other.commit();
      other.setAutoCommit(true);

      assertThat(enabling.get().schedule().expectedRuntime()).isEqualTo(Duration.ofSeconds(7));
      assertThat(enabling.get().schedule().enabled()).isFalse();
    }
  }

  private static boolean isWaitedFor(Statement statement) throws SQLException {
    try (ResultSet row =
        statement.executeQuery(
            "SELECT EXISTS (SELECT FROM pg_stat_activity"
                + " WHERE pg_backend_pid() = ANY (pg_blocking_pids(pid)))")) {
      row.next();
      return row.getBoolean(1);
    }
  }

  @Test
  void the_runs_of_a_schedule_are_not_one_trace() {
    TraceContext trace = new TraceContext(TRACE_PARENT, Optional.empty());

    assertThatExceptionOfType(HoldfastException.class)
        .isThrownBy(() ->
            Schedule.of(
                "brief",
                Trigger.cron("* * * * *"),
                JOB.withPolicy(PolicyOverrides.NONE.withTrace(trace))))
        .withMessageContaining("traceparent");
  }

  @Test
  void a_schedule_whose_stored_policy_says_more_than_this_version_knows_can_still_be_deleted() {
    tenant.schedules().put(MINUTELY, ADA);
    tenant.execute(
        "UPDATE {schema}.schedule SET policy = '{\"traceparent\": \"%s\", \"new\": 1}'"
            .formatted(TRACE_PARENT));

    assertThat(tenant.schedules().list("", 10).rows()).hasSize(1);
    assertThat(tenant.schedules().get("brief")).isPresent();
    tenant.schedules().put(MINUTELY.withMaxInstances(2), ADA);
    tenant.schedules().delete("brief", ADA);

    assertThat(tenant.schedules().list("", 10).rows()).isEmpty();
  }

  @Test
  void a_schedule_is_read_as_it_was_made() {
    Trigger trigger =
        Trigger.cron("30 2 * * *", ZoneId.of("Europe/Berlin"), new Dst(Twice.BOTH, Missing.SKIP));
    Schedule schedule =
        Schedule.of(
                "brief",
                trigger,
                JOB.withQueue("news")
                    .withPriority(-3)
                    .withResources("site:1")
                    .withPolicy(PolicyOverrides.NONE.withMaxAttempts(2)))
            .withCoalesce(false)
            .withMisfireGrace(Duration.ofSeconds(7))
            .withMaxInstances(3)
            .withExpectedRuntime(Duration.ofHours(2));

    Planned planned = tenant.schedules().put(schedule, ADA);

    assertThat(planned.declaredBy()).isEmpty();
    assertThat(planned.nextAt()).isPresent();
    Schedule read = tenant.schedules().get("brief").orElseThrow().schedule();
    assertThat(read)
        .usingRecursiveComparison()
        .ignoringFields("job", "trigger")
        .isEqualTo(schedule);
    assertThat(read.trigger()).isEqualTo(trigger);
    assertThat(read.job().queue()).isEqualTo("news");
    assertThat(read.job().priority()).isEqualTo(-3);
    assertThat(read.job().needs().resources()).containsExactly("site:1");
    assertThat(read.job().policy()).isEqualTo(PolicyOverrides.NONE.withMaxAttempts(2));
    assertThat(tenant.resources().get("schedule:brief").capacity()).isEqualTo(3);
    assertThat(tenant.schedules().list("", 10).rows())
        .extracting(each -> each.schedule().name())
        .containsExactly("brief");
  }

  @Test
  void the_same_again_forgets_no_slot_and_another_trigger_begins_anew() {
    tenant.schedules().put(MINUTELY, ADA);
    Optional<Instant> due = tenant.schedules().get("brief").orElseThrow().nextAt();
    tenant.advance(Duration.ofMinutes(10));

    Planned same = tenant.schedules().put(MINUTELY.withMaxInstances(2), ADA);
    Planned other =
        tenant.schedules().put(Schedule.of("brief", Trigger.cron("*/5 * * * *"), JOB), ADA);

    assertThat(same.nextAt()).isEqualTo(due);
    assertThat(other.nextAt().orElseThrow()).isAfter(due.orElseThrow().plus(Duration.ofMinutes(8)));
    assertThat(slots())
        .hasSizeBetween(9, 11)
        .allMatch(slot -> slot.status() == SlotStatus.SKIPPED_MISFIRE)
        .allMatch(slot -> slot.reason().orElseThrow().contains("was changed"));
  }

  private List<Slot> slots() {
    return tenant.schedules().slots("brief", Optional.empty(), 100);
  }

  @Test
  void a_disabled_one_has_no_next_slot_and_begins_anew_when_enabled() {
    tenant.schedules().put(MINUTELY, ADA);

    assertThat(tenant.schedules().put(MINUTELY.withEnabled(false), ADA).nextAt()).isEmpty();
    tenant.advance(Duration.ofHours(1));
    tenant.scheduler().runOnce();

    assertThat(tenant.schedules().slots("brief", Optional.empty(), 10)).isEmpty();
    tenant.schedules().put(MINUTELY, ADA);
    tenant.scheduler().runOnce();
    assertThat(tenant.schedules().slots("brief", Optional.empty(), 10)).isEmpty();
  }

  @Test
  void what_code_declares_no_longer_is_disabled_and_what_people_made_is_left_alone() {
    Schedule weekly = Schedule.of("weekly", Trigger.cron("@weekly"), JOB);
    Schedule byHand = Schedule.of("by-hand", Trigger.cron("@weekly"), JOB);
    tenant.schedules().put(byHand, ADA);
    Schedule others = Schedule.of("others", Trigger.cron("@weekly"), JOB);
    tenant.schedules().declare("app", List.of(MINUTELY, weekly));
    tenant.schedules().declare("another", List.of(others));

    tenant.schedules().declare("app", List.of(MINUTELY));

    assertThat(enabled())
        .containsExactly("brief true", "by-hand true", "others true", "weekly false");
    tenant.schedules().declare("app", List.of(MINUTELY, weekly));
    assertThat(enabled()).contains("weekly true");
  }

  @Test
  void what_somebody_disabled_stays_so_when_code_declares_it_again() {
    tenant.schedules().declare("app", List.of(MINUTELY));
    tenant.schedules().put(MINUTELY.withEnabled(false), ADA);

    tenant.schedules().declare("app", List.of(MINUTELY));

    assertThat(enabled()).containsExactly("brief false");
    tenant.schedules().put(MINUTELY, ADA);
    assertThat(enabled()).containsExactly("brief true");
  }

  @Test
  void what_code_declares_at_every_start_is_recorded_once() {
    tenant.schedules().declare("app", List.of(MINUTELY));
    tenant.schedules().declare("app", List.of(MINUTELY));

    assertThat(tenant.audit().latest(10)).hasSize(1);
  }

  private List<String> enabled() {
    return tenant.schedules().list("", 10).rows().stream()
        .map(each -> each.schedule().name() + " " + each.schedule().enabled())
        .toList();
  }

  @Test
  void the_next_times_are_told_also_from_another_moment_on() {
    tenant.schedules().put(Schedule.of("daily", Trigger.cron("@daily"), JOB), ADA);
    Planned every =
        tenant.schedules().put(Schedule.of("ten", Trigger.every(Duration.ofMinutes(10)), JOB), ADA);
    Instant first = every.nextAt().orElseThrow();

    assertThat(
            tenant.schedules().next("daily", 2, Optional.of(Instant.parse("2030-05-05T05:05:05Z"))))
        .containsExactly(
            Instant.parse("2030-05-06T00:00:00Z"), Instant.parse("2030-05-07T00:00:00Z"));
    assertThat(tenant.schedules().next("ten", 2, Optional.empty()))
        .containsExactly(first, first.plus(Duration.ofMinutes(10)));
    assertThat(tenant.schedules().next("ten", 1, Optional.of(first.plus(Duration.ofMinutes(25)))))
        .containsExactly(first.plus(Duration.ofMinutes(30)));
    assertThat(tenant.schedules().next("ten", 1, Optional.of(first.minus(Duration.ofMinutes(25)))))
        .containsExactly(first.minus(Duration.ofMinutes(20)));
  }

  @Test
  void a_deleted_schedule_leaves_its_slots_behind() {
    tenant.schedules().put(MINUTELY, ADA);
    tenant.advance(Duration.ofMinutes(1));
    tenant.scheduler().runOnce();

    tenant.schedules().delete("brief", ADA);

    assertThat(tenant.schedules().get("brief")).isEmpty();
    assertThat(tenant.schedules().slots("brief", Optional.empty(), 10)).hasSize(1);
    refused(ErrorCode.NOT_FOUND, "brief", () -> tenant.schedules().delete("brief", ADA));
  }

  // A node of the version before may still store it.
  @Test
  void a_misfire_grace_that_is_refused_today_reads_as_the_shortest() {
    tenant.schedules().put(MINUTELY, ADA);
    tenant.execute("UPDATE {schema}.schedule SET misfire_grace_ms = 0");

    assertThat(tenant.schedules().get("brief").orElseThrow().schedule().misfireGrace())
        .isEqualTo(Duration.ofSeconds(1));
  }

  @Test
  void what_cannot_be_is_refused_with_the_fields_name() {
    refused("name", () -> Schedule.of("x".repeat(129), Trigger.cron("@daily"), JOB));
    refused("max_instances", () -> MINUTELY.withMaxInstances(0));
    refused("misfire_grace_seconds", () -> MINUTELY.withMisfireGrace(Duration.ofMillis(999)));
    refused("expected_runtime_seconds", () -> MINUTELY.withExpectedRuntime(Duration.ZERO));
    refused("job.unique_key", () -> of(JOB.withUniqueKey("k")));
    refused("job.run_at", () -> of(JOB.withDelay(Duration.ofSeconds(1))));
    refused("job", () -> of(JOB.withTags("t")));
    refused("job.pending", () -> of(JOB.asPending()));
    refused("resources", () -> of(JOB.withResources(many(16))));
    refused("args", () -> put(of(NewJob.of("brief", "x".repeat(300_000)))));
    refused("from", () -> next(Instant.MAX));
    refused("from", () -> next(Instant.parse("+300000-01-01T00:00:00Z")));
    refused("before", () -> tenant.schedules().slots("brief", Optional.of(Instant.MIN), 1));
    refused(
        "scheduled_for", () -> tenant.schedules().trigger("brief", Optional.of(Instant.MAX), ADA));
    refused("count", () -> tenant.schedules().next("brief", 0, Optional.empty()));
    refused("limit", () -> tenant.schedules().list("", 1_001));
    refused(
        "cron",
        () -> tenant.schedules().put(Schedule.of("never", Trigger.cron("0 0 30 2 *"), JOB), ADA));
    assertThat(tenant.schedules().list("", 10).rows()).isEmpty();
  }

  private void put(Schedule schedule) {
    tenant.schedules().put(schedule, ADA);
  }

  private void next(Instant from) {
    tenant.schedules().next("brief", 1, Optional.of(from));
  }

  private static List<String> many(int resources) {
    return IntStream.range(0, resources).mapToObj(each -> "site:" + each).toList();
  }

  @Test
  void as_many_resources_as_are_allowed_can_also_be_run() {
    tenant.schedules().put(of(JOB.withResources(many(15))), ADA);

    assertThat(tenant.schedules().trigger("brief", Optional.empty(), ADA)).isNotNull();
  }

  @Test
  void arguments_are_stored_as_they_are_and_not_shown_in_the_record_of_acts() {
    tenant.schedules().put(of(NewJob.of("brief", new Payload("{\"key\":\"s3cret\\u0000\"}"))), ADA);

    assertThat(tenant.schedules().get("brief").orElseThrow().schedule().job().args())
        .isEqualTo(new Payload("{\"key\":\"s3cret\\u0000\"}"));
    assertThat(tenant.audit().latest(10).toString()).doesNotContain("s3cret");
  }

  private static Schedule of(NewJob job) {
    return Schedule.of("brief", Trigger.cron("@daily"), job);
  }

  private static void refused(String field, ThrowingCallable call) {
    refused(ErrorCode.INVALID_ARGUMENT, field, call);
  }

  private static void refused(ErrorCode code, String words, ThrowingCallable call) {
    assertThatExceptionOfType(HoldfastException.class)
        .isThrownBy(call)
        .withMessageContaining(words)
        .satisfies(refusal -> assertThat(refusal.code()).isEqualTo(code));
  }
}
