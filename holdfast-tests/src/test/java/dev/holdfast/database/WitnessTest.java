package dev.holdfast.database;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.database.Witness.Attempt;
import dev.holdfast.database.Witness.Stored;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** The witness notices each way to fail, and nothing else. */
class WitnessTest {

  private static final UUID JOB = new UUID(1, 1);
  private static final Attempt FIRST = new Attempt(JOB, 7);
  private static final Attempt SECOND = new Attempt(JOB, 9);
  private static final List<String> SITE = List.of("site:1");

  private final Witness witness = new Witness();

  @Test
  void a_job_that_is_begun_again_under_a_larger_fence_is_no_violation_and_is_counted() {
    witness.started(FIRST, SITE);
    witness.ended(FIRST);
    witness.started(SECOND, SITE);
    witness.acted(SECOND);
    witness.ended(SECOND);
    witness.compare(JOB, Optional.of(new Stored("succeeded", 9)), true, "then");

    assertThat(witness.violations()).isEmpty();
    assertThat(witness.again()).isEqualTo(1);
    assertThat(witness.hasActed(FIRST)).isFalse();
    assertThat(witness.hasActed(SECOND)).isTrue();
  }

  @Test
  void a_fence_that_does_not_grow_is_seen_for_a_job_and_for_what_it_needs() {
    witness.started(SECOND, List.of());
    witness.ended(SECOND);
    witness.started(FIRST, List.of());

    assertThat(witness.violations()).containsExactly("job %s: fence 7 after 9".formatted(JOB));

    witness.started(new Attempt(new UUID(2, 2), 20), SITE);
    witness.started(new Attempt(new UUID(3, 3), 19), SITE);

    assertThat(witness.violations()).contains("site:1: fence 19 after 20");
  }

  @Test
  void two_attempts_at_once_are_seen() {
    witness.started(FIRST, List.of());
    witness.started(SECOND, List.of());

    assertThat(witness.violations()).singleElement().asString().contains("runs beside fence 7");
  }

  @Test
  void two_effects_under_one_fence_are_seen() {
    witness.started(FIRST, List.of());
    witness.acted(FIRST);
    witness.acted(FIRST);

    assertThat(witness.violations()).singleElement().asString().contains("two effects");
  }

  @Test
  void an_effect_after_another_attempt_was_granted_is_seen() {
    witness.started(FIRST, List.of());
    witness.ended(FIRST);
    witness.started(SECOND, List.of());
    witness.acted(FIRST);

    assertThat(witness.violations()).singleElement().asString().contains("acts after fence 9");
  }

  @Test
  void a_job_that_the_database_calls_finished_and_grants_again_is_seen_though_nobody_was_told() {
    witness.started(FIRST, List.of());
    witness.acted(FIRST);
    witness.ended(FIRST);
    witness.compare(JOB, Optional.of(new Stored("succeeded", 7)), false, "then");
    witness.started(SECOND, List.of());

    assertThat(witness.violations()).singleElement().asString().contains("is granted again");
  }

  @Test
  void a_finished_job_that_is_granted_again_is_seen_also_when_its_end_is_heard_late() {
    witness.started(FIRST, List.of());
    witness.ended(FIRST);
    witness.started(SECOND, List.of());
    witness.succeeded(FIRST);

    assertThat(witness.violations()).singleElement().asString().contains("fence 9 is granted");
  }

  @Test
  void a_job_that_is_lost_or_finished_no_more_or_by_nobody_is_seen() {
    witness.compare(JOB, Optional.empty(), false, "first");
    witness.compare(JOB, Optional.of(new Stored("running", 7)), true, "second");
    witness.compare(JOB, Optional.of(new Stored("succeeded", 7)), false, "third");

    assertThat(witness.violations())
        .containsExactly(
            "first: job %s was acknowledged, and is lost".formatted(JOB),
            "second: job %s was finished, and is running".formatted(JOB),
            "third: job %s is finished under fence 7, which did nothing".formatted(JOB));
  }
}
