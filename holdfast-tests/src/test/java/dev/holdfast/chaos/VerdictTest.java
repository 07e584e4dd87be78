package dev.holdfast.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.chaos.Violation.Rule;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Ledgers written by hand: what is wrong with them is found, and nothing else. */
class VerdictTest {

  private static final Acknowledged A = job("a", 1, Optional.empty());
  private static final Acknowledged B = job("b", 2, Optional.empty());
  private static final Acknowledged DOOMED = new Acknowledged("d", 3, 2, true, Optional.empty());

  @Test
  void a_job_that_was_started_and_done_is_fine() {
    assertThat(
            rules(
                List.of(A),
                """
                1 0 w1 hello w1 ok
                2 10 w1 start a 1 5 site:1,node:1 ok
                3 20 w1 effect a 5 ok
                4 21 w1 end a 5 done ok
                5 22 w1 holdfast-took a 5 finish ok
                """))
        .isEmpty();
  }

  @Test
  void a_job_that_never_started_is_lost() {
    assertThat(rules(List.of(A), "1 0 w1 hello w1 ok")).containsExactly(Rule.LOST);
  }

  @Test
  void a_job_whose_last_attempt_was_cut_short_is_lost() {
    assertThat(
            rules(
                List.of(A),
                """
                1 10 w1 start a 1 5 - ok
                2 20 w1 effect a 5 ok
                3 30 w1 gone ok
                """))
        .containsExactly(Rule.LOST);
  }

  @Test
  void a_job_that_failed_and_was_not_tried_again_is_lost() {
    assertThat(
            rules(
                List.of(A),
                """
                1 10 w1 start a 1 5 - ok
                2 20 w1 end a 5 failed ok
                """))
        .containsExactly(Rule.LOST);
  }

  @Test
  void a_doomed_job_has_had_all_its_attempts_or_is_lost() {
    String first =
        """
        1 10 w1 start d 1 5 - ok
        2 20 w1 end d 5 failed ok
        """;
    String second =
        """
        3 30 w1 start d 2 6 - ok
        4 40 w1 end d 6 failed ok
        """;

    assertThat(rules(List.of(DOOMED), first)).containsExactly(Rule.LOST);
    assertThat(rules(List.of(DOOMED), first + "3 30 w1 bye ok\n4 31 w1 gone ok"))
        .containsExactly(Rule.LOST);
    assertThat(rules(List.of(DOOMED), first + second)).isEmpty();
    assertThat(rules(List.of(DOOMED), first + "3 30 w1 gone ok"))
        .as("a crash may have used up the last")
        .isEmpty();
  }

  @Test
  void a_job_that_nobody_acknowledged_is_noticed() {
    assertThat(rules(List.of(), "1 10 w1 start a 1 5 - ok")).containsExactly(Rule.UNKNOWN);
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
  void a_stale_start_or_effect_that_the_ledger_took_is_found() {
    assertThat(
            rules(
                List.of(A),
                """
                1 10 w1 start a 1 5 - ok
                2 20 nemesis frozen w1 ok
                3 30 w2 start a 2 6 - ok
                4 40 w2 effect a 6 ok
                5 50 w2 end a 6 done ok
                6 60 w1 effect a 5 ok
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
  void more_attempts_than_the_policy_allows_are_found() {
    String two =
        """
        1 10 w1 start d 1 5 - ok
        2 20 w1 end d 5 %s ok
        3 30 w1 start d 2 6 - ok
        4 40 w1 end d 6 failed ok
        5 50 w1 start d 2 7 - ok
        6 60 w1 end d 7 failed ok
        """;

    assertThat(rules(List.of(DOOMED), two.formatted("failed")))
        .containsExactly(Rule.TOO_MANY_ATTEMPTS);
    assertThat(rules(List.of(DOOMED), two.formatted("stopped"))).as("one was given back").isEmpty();
  }

  private static Acknowledged job(String id, int number, Optional<String> target) {
    return new Acknowledged(id, number, 3, false, target);
  }

  private static List<Rule> rules(List<Acknowledged> acknowledged, String ledger) {
    return Verdict.of(ledger.lines().map(Entry::parse), acknowledged, Duration.ofSeconds(5))
        .stream()
        .map(Violation::rule)
        .toList();
  }
}
