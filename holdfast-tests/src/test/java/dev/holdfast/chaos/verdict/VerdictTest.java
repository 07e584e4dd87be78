package dev.holdfast.chaos.verdict;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.chaos.ledger.Entry;
import dev.holdfast.chaos.verdict.Violation.Rule;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;
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

  private static List<Rule> rulesOfDoomed(String ledger, LostAttempt... lost) {
    return rules(
        new Verdict.Said(List.of(DOOMED), List.of(lost), List.of(), Optional.empty()), ledger);
  }

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
    assertThat(rules(List.of(A), done.formatted("4 40 w1 holdfast-refused a 5 finish ok")))
        .isEmpty();
    assertThat(rules(List.of(A), done.formatted(took.replace("succeeded", "released")))).isEmpty();
    assertThat(rules(List.of(A), done.formatted("4 40 w1 holdfast-took a 5 checkpoint ok")))
        .isEmpty();
  }

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
    assertThat(rules(List.of(DOOMED), "0 15 w1 told d 5 ok\n" + two.formatted("failed")))
        .as("one was given back, whatever its handler made of being told to stop")
        .isEmpty();
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

  private static Acknowledged job(String id, int number, Optional<String> target) {
    return new Acknowledged(id, number, 3, false, target);
  }

  private static List<Rule> rules(List<Acknowledged> acknowledged, String ledger) {
    return rules(new Verdict.Said(acknowledged, List.of(), List.of(), Optional.empty()), ledger);
  }

  private static List<Rule> rules(Verdict.Said said, String ledger) {
    Stream<Entry> entries = ledger.lines().filter(line -> !line.isBlank()).map(Entry::parse);
    return Verdict.of(entries, said).stream().map(Violation::rule).toList();
  }
}
