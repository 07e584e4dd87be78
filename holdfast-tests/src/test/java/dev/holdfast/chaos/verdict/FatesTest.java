package dev.holdfast.chaos.verdict;

import static dev.holdfast.chaos.verdict.HandwrittenLedger.A;
import static dev.holdfast.chaos.verdict.HandwrittenLedger.DOOMED;
import static dev.holdfast.chaos.verdict.HandwrittenLedger.rules;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.chaos.ledger.Entry;
import dev.holdfast.chaos.verdict.Violation.Rule;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Every job comes to its end, after no more attempts than it may have. */
class FatesTest {

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
    assertThat(rules(List.of(DOOMED), first + second.replace("failed", "stopped")))
        .as("what was given back is to be tried again")
        .containsExactly(Rule.LOST);
    assertThat(
            rules(
                List.of(DOOMED),
                first
                    + second.replace("failed", "stopped")
                    + "5 50 w1 holdfast-agreed d 6 finish ok"))
        .as("a lost lease uses up the last one, too")
        .isEmpty();
  }

  @Test
  void a_doomed_jobs_last_attempt_may_be_lost_by_a_crash_of_who_had_it_and_of_nobody_else() {
    String first =
        """
        1 0 nemesis clock 1000000 ok
        2 10 w1 start d 1 5 - ok
        3 20 w1 end d 5 failed ok
        """;
    String killed = "4 30000 w2 gone ok";
    LostAttempt unseen = new LostAttempt("d", 2, 6, "w2", Instant.ofEpochMilli(1_029_000));
    LostAttempt longAgo = new LostAttempt("d", 2, 6, "w2", Instant.ofEpochMilli(1_000_100));
    LostAttempt anothers = new LostAttempt("d", 2, 6, "w3", Instant.ofEpochMilli(1_029_000));
    LostAttempt notTheLast = new LostAttempt("d", 1, 6, "w2", Instant.ofEpochMilli(1_029_000));

    assertThat(rulesOfDoomed(first + killed)).as("somebody crashed").containsExactly(Rule.LOST);
    assertThat(rulesOfDoomed(first + killed, unseen)).isEmpty();
    assertThat(rulesOfDoomed(first, unseen)).as("nobody crashed").containsExactly(Rule.LOST);
    assertThat(rulesOfDoomed(first + killed, longAgo)).containsExactly(Rule.LOST);
    assertThat(rulesOfDoomed(first + killed, anothers)).containsExactly(Rule.LOST);
    assertThat(rulesOfDoomed(first + killed, notTheLast)).containsExactly(Rule.LOST);
    assertThat(rulesOfDoomed(first + "4 28500 nemesis lost LOSE_DATABASE_CLAIM ok", unseen))
        .as("its claim was never answered")
        .isEmpty();
    assertThat(rulesOfDoomed(first + "4 28500 nemesis lost LOSE_PULL ok", unseen))
        .as("nothing that it has to do with")
        .containsExactly(Rule.LOST);
  }

  @Test
  void a_doomed_jobs_last_attempt_that_began_ends_or_its_process_was_hit() {
    String begun =
        """
        1 10 w1 start d 1 5 - ok
        2 20 w1 end d 5 failed ok
        3 30 w1 start d 2 6 - ok
        """;

    assertThat(rulesOfDoomed(begun)).containsExactly(Rule.LOST);
    assertThat(rulesOfDoomed(begun + "4 40 w1 gone ok")).isEmpty();
    assertThat(rulesOfDoomed(begun + "4 26000 w1 gone ok")).isEmpty();
    assertThat(rulesOfDoomed(begun + "4 27000 w1 gone ok"))
        .as("long after anything must have been heard of it")
        .containsExactly(Rule.LOST);
    assertThat(rulesOfDoomed(begun + "4 40 nemesis frozen w1 ok")).isEmpty();
    assertThat(rulesOfDoomed(begun + "4 40 w2 gone ok")).containsExactly(Rule.LOST);
    assertThat(rulesOfDoomed(begun + "4 40 w1 end d 6 stopped ok\n5 50 nemesis cut X ok"))
        .as("stopped, and nothing happened to it")
        .containsExactly(Rule.LOST);
    assertThat(
            rulesOfDoomed(
                begun
                    + "4 40 w1 end d 6 stopped ok\n"
                    + "5 50 nemesis held HOLD_WORKERS_FROM_DATABASE ok"))
        .isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          d2.1   | 28500 nemesis cut CUT_WORKERS_FROM_DATABASE         | true
          d2.1   | 31500 nemesis cut CUT_WORKERS_FROM_DATABASE         | true
          d2.1   | 27500 nemesis cut CUT_WORKERS_FROM_DATABASE         | false
          d2.1   | 32500 nemesis cut CUT_WORKERS_FROM_DATABASE         | false
          d2.1   | 28500 nemesis held HOLD_WORKERS_FROM_DATABASE       | true
          d2.1   | 28500 nemesis cut CUT_SERVERS_FROM_DATABASE         | false
          d2.1   | 28500 nemesis cut CUT_WORKERS_FROM_SERVER s0        | false
          d2.1   | 28500 nemesis frozen s0.1                           | false
          d2.1   | 28500 nemesis lost LOSE_CLAIM s0                    | false
          d2.1   | 28500 nemesis cut CRASH_DATABASE                    | true
          h1.1   | 28500 nemesis cut CUT_WORKERS_FROM_SERVER s0        | true
          h1.1   | 28500 nemesis cut CUT_WORKERS_FROM_SERVER s1        | false
          h1.1   | 28500 nemesis frozen s0.1                           | true
          h1.1   | 28500 nemesis frozen s1.1                           | false
          h1.1   | 28500 s0.1 gone                                     | true
          h1.1   | 28500 nemesis cut CUT_SERVERS_FROM_DATABASE         | true
          h1.1   | 28500 nemesis cut CUT_WORKERS_FROM_DATABASE         | false
          h1.1   | 28500 nemesis lost LOSE_CLAIM s0                    | true
          h1.1   | 28500 nemesis lost LOSE_CLAIM s1                    | false
          p1.1-2 | 28500 nemesis lost LOSE_CLAIM s1                    | false
          p1.1-2 | 28500 nemesis lost LOSE_PULL s1                     | true
          p1.1-2 | 28500 nemesis lost LOSE_PULL                        | true
          """)
  void a_blow_excuses_a_grant_that_never_began_only_of_whom_it_concerns_and_only_just_then(
      String worker, String blow, boolean excuses) {
    String ledger =
        """
        1 0 nemesis clock 1000000 ok
        2 1 nemesis serves s0 h1 ok
        3 2 nemesis serves s1 p1 ok
        4 10 w1 start d 1 5 - ok
        5 20 w1 end d 5 failed ok
        6 %s ok
        """
            .formatted(blow);

    assertThat(
            rulesOfDoomed(
                ledger, new LostAttempt("d", 2, 6, worker, Instant.ofEpochMilli(1_029_000))))
        .isEqualTo(excuses ? List.of() : List.of(Rule.LOST));
  }

  @Test
  void a_hold_excuses_for_as_long_as_it_lasts_and_a_server_until_it_has_ended() {
    LostAttempt unseen = new LostAttempt("d", 2, 6, "h1.1", Instant.ofEpochMilli(1_029_000));
    String begun =
        """
        1 0 nemesis clock 1000000 ok
        2 10 w1 start d 1 5 - ok
        3 20 w1 end d 5 failed ok
        """;
    String held =
        """
        4 18000 nemesis held HOLD_WORKERS_FROM_SERVER s0 ok
        5 %d nemesis released HOLD_WORKERS_FROM_SERVER s0 ok
        """;
    String drained =
        """
        4 18000 nemesis hits s0.1 TERMINATE_SERVER ok
        5 %1$d s0.1 bye ok
        6 %1$d s0.1 gone ok
        """;

    for (String mishap : List.of(held, drained)) {
      assertThat(rulesOfDoomed(begun + mishap.formatted(28_500), unseen)).isEmpty();
      assertThat(rulesOfDoomed(begun + mishap.formatted(27_500), unseen))
          .containsExactly(Rule.LOST);
    }
  }

  @Test
  void a_mishap_excuses_whom_it_stopped_until_its_lease_is_over() {
    String stopped =
        """
        1 10 d1.1 start d 1 5 - ok
        2 20 d1.1 end d 5 failed ok
        3 %d nemesis %s ok
        4 19000 d1.1 start d 2 6 - ok
        5 20000 d1.1 end d 6 stopped ok
        """;
    String cut = "cut CUT_WORKERS_FROM_DATABASE";

    assertThat(rulesOfDoomed(stopped.formatted(16_100, cut))).isEmpty();
    assertThat(rulesOfDoomed(stopped.formatted(15_900, cut)))
        .as("long before, which was excused once")
        .containsExactly(Rule.LOST);
    assertThat(rulesOfDoomed(stopped.formatted(18_900, "lost LOSE_DATABASE_CLAIM")))
        .as("a claim's connection is not what it lives by")
        .containsExactly(Rule.LOST);
  }

  @Test
  void what_a_mishap_excuses_is_counted() {
    String first =
        """
        1 10 d1.1 start d 1 5 - ok
        2 20 d1.1 end d 5 failed ok
        3 30 d1.1 start d 2 6 - ok
        """;
    String cut = "5 50 nemesis cut CUT_WORKERS_FROM_DATABASE ok";

    assertThat(excused(first + "4 40 d1.1 end d 6 stopped ok\n" + cut)).isOne();
    assertThat(excused(first + "4 40 d1.1 end d 6 stopped ok\n")).isZero();
    assertThat(excused(first + "4 40 d1.1 end d 6 failed ok\n" + cut)).isZero();
    assertThat(excused(first + "4 40 d1.1 gone ok")).isOne();
    assertThat(
            excused(
                first + "4 40 d1.1 end d 6 stopped ok\n5 50 d1.1 holdfast-agreed d 6 finish ok"))
        .isOne();
  }

  private static long excused(String ledger) {
    return Verdict.excused(
        ledger.lines().map(Entry::parse),
        new Verdict.Said(List.of(DOOMED), List.of(), List.of(), Optional.empty()));
  }

  private static List<Rule> rulesOfDoomed(String ledger, LostAttempt... lost) {
    return rules(
        new Verdict.Said(List.of(DOOMED), List.of(lost), List.of(), Optional.empty()), ledger);
  }

  @Test
  void a_job_that_nobody_acknowledged_is_noticed() {
    assertThat(rules(List.of(), "1 10 w1 start a 1 5 - ok")).containsExactly(Rule.UNKNOWN);
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
    assertThat(rules(List.of(DOOMED), "0 15 w1 told d 5 ok\n" + two.formatted("failed")))
        .as("one was given back, whatever its handler made of being told to stop")
        .isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          took d 5 finish other    | true
          refused d 5 checkpoint   | true
          agreed d 5 finish        | false
          refused d 5 finish       | false
          took d 5 finish failed   | false
          """)
  void an_attempt_that_was_stopped_counts_if_its_lease_was_lost_or_it_failed(
      String answer, boolean isGivenBack) {
    String three =
        """
        1 10 w1 start d 1 5 - ok
        2 20 w1 end d 5 %s ok
        3 30 w1 start d 2 6 - ok
        4 40 w1 end d 6 failed ok
        5 50 w1 start d 2 7 - ok
        6 60 w1 end d 7 failed ok
        7 70 w1 holdfast-%s ok
        """;
    List<Rule> expected = isGivenBack ? List.of() : List.of(Rule.TOO_MANY_ATTEMPTS);

    assertThat(rules(List.of(DOOMED), three.formatted("stopped", answer))).isEqualTo(expected);
    assertThat(rules(List.of(DOOMED), "0 15 w1 told d 5 ok\n" + three.formatted("failed", answer)))
        .as("whatever its handler made of being told to stop")
        .isEqualTo(expected);
  }

  @Test
  void who_pulls_gives_nothing_back() {
    assertThat(
            rules(
                List.of(DOOMED),
                """
                1 10 p1.1-2 start d 1 5 - ok
                2 15 p1.1-2 told d 5 ok
                3 20 p1.1-2 end d 5 failed ok
                4 30 w1 start d 2 6 - ok
                5 40 w1 end d 6 failed ok
                6 50 w1 start d 2 7 - ok
                7 60 w1 end d 7 failed ok
                """))
        .containsExactly(Rule.TOO_MANY_ATTEMPTS);
  }

  @Test
  void a_job_that_somebody_resolved_is_not_lost_and_one_that_was_only_tried_is() {
    String failed =
        """
        1 10 w1 start a 1 5 - ok
        2 20 w1 end a 5 failed ok
        3 30 operator act a resolve ok
        """;

    assertThat(rules(List.of(A), failed + "4 40 operator acted a resolve ok")).isEmpty();
    assertThat(rules(List.of(A), failed)).containsExactly(Rule.LOST);
  }

  @Test
  void an_act_allows_one_attempt_more_and_no_two() {
    Acknowledged once = new Acknowledged("a", 1, 1, false, Optional.empty());
    String retried =
        """
        1 10 w1 start a 1 5 - ok
        2 20 w1 end a 5 failed ok
        3 30 operator act a retry ok
        4 40 w1 start a 2 6 - ok
        5 50 w1 end a 6 failed ok
        6 60 w1 start a 3 7 - ok
        7 70 w1 effect a 7 ok
        8 80 w1 end a 7 done ok
        """;

    assertThat(rules(List.of(once), retried)).containsExactly(Rule.TOO_MANY_ATTEMPTS);
  }

  @Test
  void an_act_that_was_declined_and_a_resolve_allow_none() {
    Acknowledged once = new Acknowledged("a", 1, 1, false, Optional.empty());
    String again =
        """
        1 10 w1 start a 1 5 - ok
        2 20 w1 end a 5 failed ok
        3 30 operator act a %s ok
        5 50 w1 start a 2 6 - ok
        6 60 w1 effect a 6 ok
        7 70 w1 end a 6 done ok
        """;

    assertThat(rules(List.of(once), again.formatted("retry"))).as("perhaps done").isEmpty();
    assertThat(rules(List.of(once), again.formatted("retry ok\n4 40 operator declined a retry")))
        .containsExactly(Rule.TOO_MANY_ATTEMPTS);
    assertThat(rules(List.of(once), again.formatted("resolve")))
        .containsExactly(Rule.TOO_MANY_ATTEMPTS);
  }
}
