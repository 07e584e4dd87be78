package dev.holdfast.planted;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.planted.Trial.Failure;
import dev.holdfast.planted.Trial.Run;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Only the failure that was to be expected counts as caught. */
class TrialTest {

  private static final String ASSERTION = "org.opentest4j.AssertionFailedError";
  private static final Failure NAMED = new Failure("must_hold", ASSERTION, "it does not");
  private static final Failure OTHER = new Failure("has_nothing_to_do_with_it", ASSERTION, "oh");
  private static final Failure LATE =
      new Failure("must_hold", "java.util.concurrent.TimeoutException", "timed out");

  private final Trial trial = Trial.of("worker.SomeTest", "must_hold", "must_hold_too");

  private static Run ended(Failure... failures) {
    return new Run(true, List.of(failures));
  }

  @Test
  void a_named_test_that_fails_has_seen_the_effect() {
    assertThat(trial.judge(ended(NAMED))).isEqualTo(new Seen.Effect("SomeTest", "must hold"));
    assertThat(trial.judge(ended())).isEqualTo(new Seen.Nothing());
  }

  @Test
  void another_test_that_fails_shows_that_something_else_is_wrong() {
    assertThat(trial.judge(ended(OTHER))).isInstanceOf(Seen.Broken.class);
    assertThat(trial.judge(ended(NAMED, OTHER))).isInstanceOf(Seen.Broken.class);
  }

  @Test
  void what_never_ends_has_seen_nothing_unless_that_is_the_effect() {
    Run never = new Run(false, List.of());

    assertThat(trial.judge(never)).isInstanceOf(Seen.Broken.class);
    assertThat(trial.judge(ended(LATE))).isInstanceOf(Seen.Broken.class);
    assertThat(trial.judge(ended(NAMED, LATE))).isInstanceOf(Seen.Effect.class);
    assertThat(trial.hanging().judge(never)).isInstanceOf(Seen.Effect.class);
    assertThat(trial.hanging().judge(ended(LATE))).isInstanceOf(Seen.Effect.class);
    assertThat(trial.hanging().judge(ended())).isEqualTo(new Seen.Nothing());
  }

  @Test
  void a_run_in_which_too_little_happened_has_seen_nothing() {
    Failure rare = new Failure("must_hold", ASSERTION, "[what was reached too rarely for this]");

    assertThat(trial.judge(ended(rare))).isInstanceOf(Seen.Broken.class);
  }
}
