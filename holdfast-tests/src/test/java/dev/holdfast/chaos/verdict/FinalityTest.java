package dev.holdfast.chaos.verdict;

import static dev.holdfast.chaos.verdict.HandwrittenLedger.A;
import static dev.holdfast.chaos.verdict.HandwrittenLedger.rules;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.chaos.verdict.Violation.Rule;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What is done stays done, unless somebody asks for more. */
class FinalityTest {

  @Test
  void a_job_that_is_done_and_starts_again_is_found() {
    String done =
        """
        1 10 w1 start a 1 5 - ok
        2 20 w1 effect a 5 ok
        3 30 w1 end a 5 done ok
        %s
        """;
    String again =
        """
        6 60 w2 start a 2 6 - ok
        7 70 w2 effect a 6 ok
        8 80 w2 end a 6 done ok
        """;
    String took = "4 40 w1 holdfast-took a 5 finish succeeded ok";

    assertThat(rules(List.of(A), done.formatted(took) + again))
        .containsExactly(Rule.FINISHED_AGAIN);
    assertThat(rules(List.of(A), done.formatted(took.replace(" succeeded", "")) + again))
        .as("an answer without the outcome")
        .containsExactly(Rule.FINISHED_AGAIN);
    assertThat(rules(List.of(A), done.formatted("") + again + took.replace("4 40", "9 90")))
        .as("the answer is told late")
        .containsExactly(Rule.FINISHED_AGAIN);
  }

  @Test
  void a_job_that_is_done_may_start_again_when_somebody_asked_or_its_end_was_not_taken() {
    String done =
        """
        1 10 w1 start a 1 5 - ok
        2 20 w1 effect a 5 ok
        3 30 w1 end a 5 done ok
        %s
        6 60 w2 start a 2 6 - ok
        7 70 w2 effect a 6 ok
        8 80 w2 end a 6 done ok
        9 90 w2 holdfast-took a 6 finish succeeded ok
        """;
    String took = "4 40 w1 holdfast-took a 5 finish succeeded ok";

    assertThat(rules(List.of(A), done.formatted(took + "\n5 50 operator act a retry ok")))
        .isEmpty();
    assertThat(rules(List.of(A), done.formatted("0 5 operator act a retry ok\n" + took)))
        .as("somebody asked before")
        .containsExactly(Rule.FINISHED_AGAIN);
    assertThat(rules(List.of(A), done.formatted(took + "\n5 50 operator act b retry ok")))
        .as("somebody asked for another job")
        .containsExactly(Rule.FINISHED_AGAIN, Rule.UNKNOWN);
    assertThat(
            rules(
                List.of(A),
                done.formatted(
                    took + "\n5 50 operator act a retry ok\n5 51 operator declined a retry ok")))
        .as("somebody asked and was declined")
        .containsExactly(Rule.FINISHED_AGAIN);
    assertThat(rules(List.of(A), done.formatted("4 40 w1 holdfast-refused a 5 finish ok")))
        .isEmpty();
    assertThat(rules(List.of(A), done.formatted(took.replace("succeeded", "released")))).isEmpty();
    assertThat(rules(List.of(A), done.formatted("4 40 w1 holdfast-took a 5 checkpoint ok")))
        .isEmpty();
  }
}
