package dev.holdfast.chaos.verdict;

import static dev.holdfast.chaos.verdict.HandwrittenLedger.A;
import static dev.holdfast.chaos.verdict.HandwrittenLedger.rules;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.chaos.verdict.Violation.Rule;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Who lost a job changes nothing any more, and who has it acts once. */
class FencingTest {

  @Test
  void a_stale_start_or_effect_that_the_ledger_took_is_found() {
    assertThat(
            rules(
                List.of(A),
                """
                1 10 w1 start a 1 5 - ok
                2 20 nemesis frozen w1 ok
                3 3030 w2 start a 2 6 - ok
                4 3040 w2 effect a 6 ok
                5 3050 w2 end a 6 done ok
                6 3060 w1 effect a 5 ok
                """))
        .containsExactly(Rule.STALE_ACCEPTED);
    assertThat(
            rules(
                List.of(A),
                """
                1 10 w2 start a 2 6 - ok
                2 20 w2 effect a 6 ok
                3 30 w2 end a 6 done ok
                4 40 w1 start a 1 5 - ok
                """))
        .containsExactly(Rule.STALE_ACCEPTED);
  }

  @Test
  void a_stale_write_that_holdfast_took_is_found() {
    assertThat(
            rules(
                List.of(A),
                """
                1 10 w2 start a 2 6 - ok
                2 20 w2 effect a 6 ok
                3 30 w2 end a 6 done ok
                4 40 w1 start a 1 5 - refused
                5 50 w1 holdfast-took a 5 checkpoint ok
                """))
        .containsExactly(Rule.STALE_WRITTEN);
  }

  @Test
  void an_end_that_came_after_another_had_started_and_that_holdfast_took_is_found() {
    assertThat(
            rules(
                List.of(A),
                """
                1 10 w1 start a 1 5 - ok
                2 20 nemesis frozen w1 ok
                3 5030 w2 start a 2 6 - ok
                4 5040 w2 effect a 6 ok
                5 5050 w2 end a 6 done ok
                6 5060 w1 end a 5 failed refused
                7 5070 w1 holdfast-took a 5 finish other ok
                """))
        .containsExactly(Rule.STALE_WRITTEN);
  }

  @Test
  void a_grant_with_two_effects_is_found() {
    assertThat(
            rules(
                List.of(A),
                """
                1 10 w1 start a 1 5 - ok
                2 20 w1 effect a 5 ok
                3 30 w1 effect a 5 ok
                4 40 w1 end a 5 done ok
                """))
        .containsExactly(Rule.DOUBLE_EFFECT);
  }

  @Test
  void a_grant_that_starts_again_after_its_end_is_found() {
    assertThat(
            rules(
                List.of(A),
                """
                1 10 w1 start a 1 5 - ok
                2 20 w1 effect a 5 ok
                3 30 w1 end a 5 done ok
                4 40 w1 start a 1 5 - ok
                5 50 w1 effect a 5 ok
                6 60 w1 end a 5 done ok
                """))
        .containsExactly(Rule.DOUBLE_EFFECT);
  }
}
