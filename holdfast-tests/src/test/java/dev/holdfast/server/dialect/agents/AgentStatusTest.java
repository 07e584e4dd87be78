package dev.holdfast.server.dialect.agents;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.job.JobState;
import dev.holdfast.server.dialect.agents.AgentStatus.Verdict;
import dev.holdfast.testkit.Covers;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class AgentStatusTest {

  // As the contract has them.
  private static final String CONTRACT =
      """
      launching → queued, running, canceled
      queued → dispatched, canceled
      dispatched → running, failed, canceled, stop_requested, queued
      running → finished, failed, stop_requested, stopped, canceled
      stop_requested → stopped, failed, canceled
      """;

  private static Map<String, Set<String>> contract() {
    Map<String, Set<String>> moves = new LinkedHashMap<>();
    CONTRACT
        .lines()
        .map(line -> line.split(" → ", -1))
        .forEach(line ->
            moves.put(line[0], Arrays.stream(line[1].split(", ", -1)).collect(Collectors.toSet())));
    return moves;
  }

  @Covers({"C4", "C6", "C7"})
  @Test
  void every_pair_of_statuses_is_judged_as_the_contract_says() {
    for (AgentStatus from : AgentStatus.values()) {
      for (AgentStatus to : AgentStatus.values()) {
        boolean listed = contract().getOrDefault(from.word(), Set.of()).contains(to.word());
        Verdict expected = from == to ? Verdict.REPEATED : listed ? Verdict.MOVES : Verdict.REFUSED;

        assertThat(from.hears(to)).as(from + " hears " + to).isEqualTo(expected);
      }
    }
  }

  @Covers("C4")
  @Test
  void every_status_of_the_document_is_a_state_of_the_engine() {
    Set<String> shown =
        Arrays.stream(JobState.values())
            .flatMap(state ->
                Arrays.stream(
                    new AgentStatus[] {AgentStatus.of(state, false), AgentStatus.of(state, true)}))
            .map(AgentStatus::word)
            .collect(Collectors.toSet());

    assertThat(shown)
        .containsExactlyInAnyOrder(
            "launching",
            "queued",
            "dispatched",
            "running",
            "stop_requested",
            "stopped",
            "finished",
            "failed",
            "canceled");
    assertThat(AgentStatus.named("unknown")).isEmpty();
    assertThat(AgentStatus.named("not_found")).isEmpty();
  }

  @Test
  void what_the_engine_calls_finished_is_what_nothing_follows() {
    for (JobState state : JobState.values()) {
      assertThat(AgentStatus.of(state, false).isTerminal()).isEqualTo(state.isFinished());
    }
  }
}
