package dev.holdfast.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.job.NewJob;
import dev.holdfast.slot.SlotStatus;
import dev.holdfast.testkit.Covers;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class DueTest {

  private static final Instant FIRST = Instant.parse("2026-01-01T10:00:00Z");

  private static final Schedule EVERY_MINUTE =
      Schedule.of("brief", Trigger.every(Duration.ofMinutes(1)), NewJob.of("brief", 1));

  @Test
  void a_slot_that_is_due_gets_a_job_and_the_next_one_waits() {
    Due due = due(EVERY_MINUTE, Duration.ZERO, 0);

    assertThat(statuses(due)).containsExactly(SlotStatus.QUEUED);
    assertThat(due.next()).contains(FIRST.plusSeconds(60));
  }

  @Covers("D10")
  @Test
  void of_several_only_the_last_one_runs_when_they_are_coalesced() {
    Due due = due(EVERY_MINUTE, Duration.ofMinutes(3), 0);

    assertThat(statuses(due))
        .containsExactly(
            SlotStatus.COALESCED, SlotStatus.COALESCED, SlotStatus.COALESCED, SlotStatus.QUEUED);
  }

  @Covers("D10")
  @Test
  void all_run_that_have_room_when_they_are_not_coalesced() {
    Schedule schedule = EVERY_MINUTE.withCoalesce(false).withMaxInstances(3);

    assertThat(statuses(due(schedule, Duration.ofMinutes(3), 1)))
        .containsExactly(
            SlotStatus.QUEUED,
            SlotStatus.QUEUED,
            SlotStatus.SKIPPED_OVERLAP,
            SlotStatus.SKIPPED_OVERLAP);
  }

  @Covers("D10")
  @Test
  void one_that_is_found_too_late_is_skipped() {
    Schedule schedule = EVERY_MINUTE.withMisfireGrace(Duration.ofSeconds(90)).withCoalesce(false);

    Due due = due(schedule.withMaxInstances(5), Duration.ofMinutes(3), 0);

    assertThat(statuses(due))
        .containsExactly(
            SlotStatus.SKIPPED_MISFIRE,
            SlotStatus.SKIPPED_MISFIRE,
            SlotStatus.QUEUED,
            SlotStatus.QUEUED);
    assertThat(due.skip().getFirst().reason()).contains("180 s late, 90 s is allowed");
  }

  @Test
  void of_a_long_outage_they_come_in_portions_and_none_is_left_out() {
    Instant now = FIRST.plus(Duration.ofMinutes(9));

    Due some = due(EVERY_MINUTE, FIRST, now, 4);
    Due others = due(EVERY_MINUTE, some.next().orElseThrow(), now, 100);

    assertThat(statuses(some))
        .containsExactly(
            SlotStatus.SKIPPED_MISFIRE,
            SlotStatus.SKIPPED_MISFIRE,
            SlotStatus.SKIPPED_MISFIRE,
            SlotStatus.SKIPPED_MISFIRE);
    assertThat(statuses(others))
        .containsExactly(
            SlotStatus.COALESCED,
            SlotStatus.COALESCED,
            SlotStatus.COALESCED,
            SlotStatus.COALESCED,
            SlotStatus.COALESCED,
            SlotStatus.QUEUED);
  }

  @Test
  void a_slot_that_somebody_took_already_uses_up_no_room() {
    Schedule schedule = EVERY_MINUTE.withCoalesce(false);
    Instant now = FIRST.plusSeconds(60);

    Due due = Due.of(schedule, times(schedule, FIRST, now, 10), Set.of(FIRST), now, 0);

    assertThat(due.fire()).containsExactly(now);
    assertThat(due.skip()).isEmpty();
  }

  private static Due due(Schedule schedule, Duration late, int open) {
    Instant now = FIRST.plus(late);
    return Due.of(schedule, times(schedule, FIRST, now, 1_000), Set.of(), now, open);
  }

  private static Due due(Schedule schedule, Instant first, Instant now, int most) {
    return Due.of(schedule, times(schedule, first, now, most), Set.of(), now, 0);
  }

  private static Due.Times times(Schedule schedule, Instant first, Instant now, int most) {
    return Due.Times.of(schedule.trigger(), first, now, most);
  }

  private static List<SlotStatus> statuses(Due due) {
    Map<Instant, SlotStatus> statuses = new TreeMap<>();
    due.fire().forEach(slot -> statuses.put(slot, SlotStatus.QUEUED));
    due.skip().forEach(skipped -> statuses.put(skipped.scheduledFor(), skipped.status()));
    return List.copyOf(statuses.values());
  }
}
