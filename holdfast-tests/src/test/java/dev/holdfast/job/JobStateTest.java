package dev.holdfast.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.testkit.TestTenant;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class JobStateTest {

  @RegisterExtension final TestTenant tenant = new TestTenant();

  @Test
  void three_states_are_finished_and_three_are_leased() {
    assertThat(JobState.values())
        .filteredOn(JobState::isFinished)
        .containsExactly(JobState.SUCCEEDED, JobState.FAILED, JobState.CANCELLED);
    assertThat(JobState.values())
        .filteredOn(JobState::isLeased)
        .containsExactly(JobState.DISPATCHED, JobState.RUNNING, JobState.STOPPING);
  }

  @ParameterizedTest
  @EnumSource
  void a_job_never_becomes_what_it_is(JobState state) {
    assertThat(state.canBecome(state)).isFalse();
  }

  @ParameterizedTest
  @EnumSource
  void every_state_can_be_left_and_every_unfinished_one_can_end(JobState state) {
    assertThat(state.next()).isNotEmpty();
    if (!state.isFinished()) {
      assertThat(state.next()).contains(JobState.FAILED, JobState.CANCELLED);
    }
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "PENDING")
  void every_state_but_the_first_can_be_reached(JobState state) {
    assertThat(JobState.values()).anyMatch(before -> before.canBecome(state));
  }

  @Test
  void only_a_queued_or_dispatched_job_starts_running() {
    assertThat(before(JobState.RUNNING))
        .containsExactlyInAnyOrder(JobState.QUEUED, JobState.DISPATCHED);
    assertThat(before(JobState.DISPATCHED)).containsExactly(JobState.QUEUED);
    assertThat(before(JobState.STOPPING))
        .containsExactlyInAnyOrder(JobState.DISPATCHED, JobState.RUNNING);
  }

  @Test
  void a_job_that_never_ran_cannot_succeed() {
    assertThat(before(JobState.SUCCEEDED))
        .doesNotContain(JobState.PENDING, JobState.QUEUED, JobState.DISPATCHED);
  }

  @Test
  void a_finished_job_is_queued_again_or_finished_otherwise_and_nothing_else() {
    assertThat(JobState.SUCCEEDED.next())
        .containsExactlyInAnyOrder(JobState.QUEUED, JobState.FAILED, JobState.CANCELLED);
    assertThat(JobState.CANCELLED.next())
        .containsExactlyInAnyOrder(JobState.QUEUED, JobState.FAILED);
  }

  @Test
  void an_attempt_ends_only_in_a_state_that_running_leads_to() {
    assertThat(JobState.RUNNING.next())
        .isEqualTo(
            EnumSet.of(
                JobState.QUEUED,
                JobState.STOPPING,
                JobState.PAUSED,
                JobState.SUCCEEDED,
                JobState.FAILED,
                JobState.CANCELLED));
    assertThatThrownBy(() -> endedIn(JobState.PENDING))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> endedIn(JobState.DISPATCHED))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @ParameterizedTest
  @EnumSource
  void a_state_is_read_as_it_was_stored(JobState state) {
    assertThat(JobState.of(state.stored())).isEqualTo(state);
  }

  @Test
  void a_state_nobody_knows_is_an_error_that_names_it() {
    assertThatThrownBy(() -> JobState.of("asleep")).hasMessageContaining("asleep");
    assertThatThrownBy(() -> JobState.of("RUNNING")).hasMessageContaining("RUNNING");
  }

  @Test
  void the_tables_know_the_same_states() {
    Matcher rule =
        Pattern.compile("state ~ '(.*)'").matcher(definition("job_lease_belongs_to_state"));
    assertThat(rule.find()).isTrue();
    Pattern leased = Pattern.compile(rule.group(1));

    assertThat(stored(live().filter(state -> leased.matcher(state.stored()).lookingAt())))
        .isEqualTo(stored(live().filter(JobState::isLeased)));
    assertThat(statesNamedIn(definition("job_done_is_finished")))
        .isEqualTo(stored(Stream.of(JobState.values()).filter(JobState::isFinished)));
    assertThat(statesNamedIn(statesThatMayLive())).isEqualTo(stored(live()));
  }

  /** The list that invariant I21 compares with. */
  private String statesThatMayLive() {
    String view =
        String.valueOf(
            tenant
                .query("SELECT pg_get_viewdef('{schema}.invariant_i21') AS definition")
                .getFirst()
                .get("definition"));
    int list = view.indexOf("ARRAY[");
    return view.substring(list, view.indexOf(']', list));
  }

  private String definition(String constraint) {
    return String.valueOf(
        tenant
            .query(
                """
                SELECT pg_get_constraintdef(oid) AS definition FROM pg_constraint
                 WHERE connamespace = '{schema}'::regnamespace AND conname = '%s'
                """
                    .formatted(constraint))
            .getFirst()
            .get("definition"));
  }

  private static Stream<JobState> live() {
    return Stream.of(JobState.values()).filter(state -> !state.isFinished());
  }

  private static Set<String> statesNamedIn(String definition) {
    return Pattern.compile("'(\\w+)'")
        .matcher(definition)
        .results()
        .map(found -> found.group(1))
        .collect(Collectors.toSet());
  }

  private static Transition endedIn(JobState state) {
    return new Transition(
        state, "failed", Duration.ZERO, false, false, Optional.empty(), Payload.NULL);
  }

  private static Set<String> stored(Stream<JobState> states) {
    return states.map(JobState::stored).collect(Collectors.toSet());
  }

  private static Set<JobState> before(JobState state) {
    return Stream.of(JobState.values())
        .filter(before -> before.canBecome(state))
        .collect(Collectors.toSet());
  }
}
