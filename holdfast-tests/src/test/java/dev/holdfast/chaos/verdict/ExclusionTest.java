package dev.holdfast.chaos.verdict;

import static dev.holdfast.chaos.verdict.HandwrittenLedger.A;
import static dev.holdfast.chaos.verdict.HandwrittenLedger.B;
import static dev.holdfast.chaos.verdict.HandwrittenLedger.rules;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.chaos.verdict.Violation.Rule;
import java.util.List;
import org.junit.jupiter.api.Test;

/** No two at once have the same job or the same resource, but for those who lost theirs. */
class ExclusionTest {

  @Test
  void a_frozen_processs_job_may_be_taken_when_its_lease_can_be_over_and_not_before() {
    String taken =
        """
        1 10 w1 start a 1 5 - ok
        2 1000 nemesis frozen w1 ok
        3 %d w2 start a 2 6 - ok
        4 2600 w2 effect a 6 ok
        5 2700 w2 end a 6 done ok
        """;

    assertThat(rules(List.of(A), taken.formatted(1_550))).containsExactly(Rule.OVERLAP);
    assertThat(rules(List.of(A), taken.formatted(1_650))).isEmpty();
  }

  @Test
  void two_attempts_with_one_resource_at_once_overlap() {
    assertThat(
            rules(
                List.of(A, B),
                """
                1 10 w1 start a 1 5 site:1,node:1 ok
                2 20 w2 start b 1 6 site:2,node:1 ok
                3 30 w1 end a 5 stopped ok
                4 40 w2 effect b 6 ok
                5 50 w2 end b 6 done ok
                6 60 w1 start a 1 7 site:1,node:1 ok
                7 70 w1 effect a 7 ok
                8 80 w1 end a 7 done ok
                """))
        .containsExactly(Rule.OVERLAP);
  }

  @Test
  void two_attempts_of_one_job_at_once_overlap() {
    assertThat(
            rules(
                List.of(A),
                """
                1 10 w1 start a 1 5 - ok
                2 20 w2 start a 2 6 - ok
                3 30 w2 effect a 6 ok
                4 40 w2 end a 6 done ok
                """))
        .containsExactly(Rule.OVERLAP);
  }

  @Test
  void what_a_killed_process_had_may_be_taken() {
    assertThat(
            rules(
                List.of(A),
                """
                1 10 w1 start a 1 5 site:1 ok
                2 20 w1 gone ok
                3 30 w2 start a 2 6 site:1 ok
                4 40 w2 effect a 6 ok
                5 50 w2 end a 6 done ok
                """))
        .isEmpty();
  }

  @Test
  void what_a_frozen_process_had_may_be_taken_after_the_kill_grace_and_not_before() {
    assertThat(rules(List.of(A, B), frozenAndTakenAt(5_100))).isEmpty();
    assertThat(rules(List.of(A, B), frozenAndTakenAt(4_900))).containsExactly(Rule.OVERLAP);
  }

  private static String frozenAndTakenAt(int millis) {
    return """
    1 10 w1 start a 1 5 site:1 ok
    2 20 nemesis frozen w1 ok
    3 %d w2 start b 1 6 site:1 ok
    4 %d w2 effect b 6 ok
    5 %d w2 end b 6 done ok
    6 9000 nemesis thawed w1 ok
    7 9010 w1 effect a 5 refused
    8 9010 w1 end a 5 refused refused
    9 9020 w1 holdfast-refused a 5 finish ok
    10 9030 w2 start a 2 7 site:1 ok
    11 9040 w2 effect a 7 ok
    12 9050 w2 end a 7 done ok
    """
        .formatted(millis, millis, millis);
  }

  @Test
  void what_was_told_to_stop_and_goes_on_may_be_taken_after_the_kill_grace_and_not_before() {
    assertThat(rules(List.of(A, B), toldAndTakenAt(5_200))).isEmpty();
    assertThat(rules(List.of(A, B), toldAndTakenAt(4_900))).containsExactly(Rule.OVERLAP);
  }

  private static String toldAndTakenAt(int millis) {
    return """
    1 10 w1 start a 1 5 site:1 ok
    2 100 w1 told a 5 ok
    3 %d w2 start b 1 6 site:1 ok
    4 %d w2 effect b 6 ok
    5 %d w2 end b 6 done ok
    6 9010 w1 effect a 5 refused
    7 9010 w1 end a 5 refused refused
    8 9030 w2 start a 2 7 site:1 ok
    9 9040 w2 effect a 7 ok
    10 9050 w2 end a 7 done ok
    """
        .formatted(millis, millis, millis);
  }

  @Test
  void what_was_told_to_stop_and_goes_on_keeps_its_resource_and_not_its_job() {
    String taken =
        """
        1 10 w1 start a 1 5 %1$s ok
        2 100 w1 told a 5 ok
        3 110 w2 start a 2 6 %1$s ok
        4 120 w1 effect a 5 refused
        5 120 w1 end a 5 refused refused
        6 130 w2 effect a 6 ok
        7 140 w2 end a 6 done ok
        """;

    assertThat(rules(List.of(A), taken.formatted("-"))).isEmpty();
    assertThat(rules(List.of(A), taken.formatted("site:1"))).containsExactly(Rule.OVERLAP);
  }

  @Test
  void who_was_frozen_is_excused_until_lease_and_kill_grace_after_it_woke_and_not_for_ever() {
    for (int begun : List.of(10, 10_500, 14_000)) { // before the freeze, and soon after it
      assertThat(rules(List.of(A), wokenAndTakenAt(begun, 17_900))).as("%d", begun).isEmpty();
      assertThat(rules(List.of(A), wokenAndTakenAt(begun, 18_100)))
          .as("%d", begun)
          .containsExactly(Rule.OVERLAP);
    }
    assertThat(rules(List.of(A), wokenAndTakenAt(15_100, 17_900)))
        .as("begun when it was awake")
        .containsExactly(Rule.OVERLAP);
  }

  private static String wokenAndTakenAt(int begun, int taken) {
    String start = "1 %d w1 start a 1 5 - ok\n".formatted(begun);
    String frozen =
        """
        2 1000 nemesis frozen w1 ok
        3 10000 nemesis thawed w1 ok
        """;
    String next =
        """
        4 %1$d w2 start a 2 6 - ok
        5 %1$d w2 effect a 6 ok
        6 %1$d w2 end a 6 done ok
        """
            .formatted(taken);
    return (begun < 1_000 ? start + frozen : frozen + start) + next;
  }

  @Test
  void a_command_is_not_excused_by_its_agents_being_frozen() {
    assertThat(
            rules(
                List.of(A, B),
                """
                1 10 c-a-5 start a 1 5 site:1 ok
                2 20 nemesis frozen a1.1 ok
                3 20020 w2 start b 1 6 site:1 ok
                4 20030 w2 effect b 6 ok
                5 20040 w2 end b 6 done ok
                6 20050 c-a-5 gone ok
                7 20060 c-a-7 start a 2 7 site:1 ok
                8 20070 c-a-7 effect a 7 ok
                9 20080 c-a-7 end a 7 done ok
                """))
        .containsExactly(Rule.OVERLAP);
  }
}
