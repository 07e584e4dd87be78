package dev.holdfast.chaos.verdict;

import static dev.holdfast.chaos.verdict.HandwrittenLedger.job;
import static dev.holdfast.chaos.verdict.HandwrittenLedger.rules;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.chaos.verdict.Violation.Rule;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The jobs of a target start in their order, and none behind one that stands there. */
class TargetOrderTest {

  @Test
  void jobs_of_a_target_that_start_in_another_order_are_found() {
    Acknowledged first = job("f", 1, Optional.of("t"));
    Acknowledged second = job("s", 2, Optional.of("t"));
    String inTurn =
        """
        1 10 w1 start s 1 5 target:t ok
        2 20 w1 effect s 5 ok
        3 30 w1 end s 5 done ok
        4 40 w1 start f %d 6 target:t ok
        5 50 w1 effect f 6 ok
        6 60 w1 end f 6 done ok
        """;

    assertThat(rules(List.of(first, second), inTurn.formatted(1)))
        .containsExactly(Rule.OUT_OF_ORDER);
    assertThat(rules(List.of(first, second), inTurn.formatted(2)))
        .as("a later attempt may come behind others")
        .isEmpty();
  }

  @Test
  void a_job_that_starts_behind_one_that_stands_on_its_target_is_found() {
    Acknowledged first = job("f", 1, Optional.of("t"));
    Acknowledged second = job("s", 2, Optional.of("t"));
    String early = "4 40 w1 start s 1 6 target:t ok\n5 50 operator act f retry ok";
    String inTime = "4 40 operator act f retry ok\n5 50 w1 start s 1 6 target:t ok";
    String ledger =
        """
        1 10 w1 start f 1 5 target:t ok
        2 20 w1 end f 5 failed ok
        3 30 operator blocked f t ok
        %s
        6 60 w1 effect s 6 ok
        7 70 w1 end s 6 done ok
        8 80 w1 start f 2 7 target:t ok
        9 90 w1 effect f 7 ok
        10 95 w1 end f 7 done ok
        """;

    assertThat(rules(List.of(first, second), ledger.formatted(early)))
        .containsExactly(Rule.BEHIND_BLOCK);
    assertThat(rules(List.of(first, second), ledger.formatted(inTime))).isEmpty();
    assertThat(
            rules(
                List.of(first),
                """
                1 10 operator blocked f t ok
                2 20 w1 start f 1 5 target:t ok
                3 30 w1 end f 5 stopped ok
                4 40 operator act f resume ok
                5 50 w1 start f 2 6 target:t ok
                6 60 w1 effect f 6 ok
                7 70 w1 end f 6 done ok
                """))
        .as("a late attempt of the job that stands there")
        .isEmpty();
  }

  @Test
  void a_process_that_was_frozen_may_start_what_it_had_for_lease_and_kill_grace_and_no_longer() {
    Acknowledged first = job("f", 1, Optional.of("t"));
    Acknowledged second = job("s", 2, Optional.of("t"));
    String ledger =
        """
        1 10 w1 start f 1 5 target:t ok
        2 20 w1 end f 5 failed ok
        3 30 nemesis frozen w2 ok
        4 40 operator blocked f t ok
        5 50 nemesis thawed w2 ok
        6 %1$d w2 start s 1 6 target:t ok
        7 %1$d w2 effect s 6 ok
        8 %1$d w2 end s 6 done ok
        9 %1$d operator act f retry ok
        10 %1$d w1 start f 2 7 target:t ok
        11 %1$d w1 effect f 7 ok
        12 %1$d w1 end f 7 done ok
        """;

    assertThat(rules(List.of(first, second), ledger.formatted(8_050))).isEmpty();
    assertThat(rules(List.of(first, second), ledger.formatted(8_051)))
        .containsExactly(Rule.BEHIND_BLOCK);
  }
}
