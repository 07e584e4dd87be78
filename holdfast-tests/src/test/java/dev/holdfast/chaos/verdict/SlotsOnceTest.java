package dev.holdfast.chaos.verdict;

import static dev.holdfast.chaos.verdict.HandwrittenLedger.A;
import static dev.holdfast.chaos.verdict.HandwrittenLedger.B;
import static dev.holdfast.chaos.verdict.HandwrittenLedger.rules;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.chaos.verdict.Violation.Rule;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Every moment of a schedule is decided about once. */
class SlotsOnceTest {

  @Test
  void a_slot_that_acted_through_two_jobs_is_found() {
    String twice =
        """
        1 10 w1 start a 1 5 schedule:s ok
        2 20 w1 effect a 5 ok
        3 30 w1 end a 5 done ok
        4 40 w1 slot a 5 s@2026-01-01T00:00:01Z ok
        5 50 w1 start b 1 6 schedule:s ok
        6 60 w1 effect b 6 ok
        7 70 w1 end b 6 done ok
        8 80 w1 slot b 6 s@%s ok
        """;

    assertThat(rules(List.of(A, B), twice.formatted("2026-01-01T00:00:01Z")))
        .containsExactly(Rule.SLOT_TWICE);
    assertThat(rules(List.of(A, B), twice.formatted("2026-01-01T00:00:02Z"))).isEmpty();
  }

  @Test
  void a_slot_that_two_were_told_of_and_one_that_nobody_decided_about_are_found() {
    assertThat(rulesOfSlots(1, 2, 3)).isEmpty();
    assertThat(rulesOfSlots(1, 3)).containsExactly(Rule.SLOT_MISSED);
    assertThat(rulesOfSlots(1, 2, 2, 3)).containsExactly(Rule.SLOT_TWICE);
  }

  @Test
  void slots_that_begin_late_or_end_early_or_are_not_due_are_found() {
    Hours hours =
        new Hours(
            List.of("s"),
            Duration.ofSeconds(1),
            Instant.ofEpochSecond(100),
            Instant.ofEpochSecond(101),
            Instant.ofEpochSecond(110),
            Instant.ofEpochSecond(112));
    assertThat(Hours.parse(hours.line())).isEqualTo(hours);

    assertThat(rulesOfSlots(hours, 101, 112)).isEmpty();
    assertThat(rulesOfSlots(hours, 103, 108)).as("at the margins").isEmpty();
    assertThat(rulesOfSlots(hours, 104, 112)).containsExactly(Rule.SLOT_MISSED);
    assertThat(rulesOfSlots(hours, 101, 107)).containsExactly(Rule.SLOT_MISSED);
    assertThat(rulesOfSlots(hours, 98, 112)).containsExactly(Rule.SLOT_UNTIMELY);
    assertThat(rulesOfSlots(hours, 101, 114)).containsExactly(Rule.SLOT_UNTIMELY);
    assertThat(rulesOfSlots(hours, 1, 0)).as("none at all").containsExactly(Rule.SLOT_MISSED);
  }

  private static List<Rule> rulesOfSlots(Hours hours, int first, int last) {
    return rulesOfSlots(Optional.of(hours), IntStream.rangeClosed(first, last).toArray());
  }

  private static List<Rule> rulesOfSlots(int... seconds) {
    return rulesOfSlots(Optional.empty(), seconds);
  }

  private static List<Rule> rulesOfSlots(Optional<Hours> hours, int... seconds) {
    List<FiredSlot> slots =
        Arrays.stream(seconds)
            .mapToObj(second ->
                new FiredSlot("s", Instant.ofEpochSecond(second), "coalesced", Optional.empty()))
            .toList();
    slots.forEach(slot -> assertThat(FiredSlot.parse(slot.line())).isEqualTo(slot));
    return rules(new Verdict.Said(List.of(), List.of(), slots, hours), "1 0 w1 hello w1 ok");
  }
}
