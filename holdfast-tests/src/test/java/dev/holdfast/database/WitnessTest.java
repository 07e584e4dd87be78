package dev.holdfast.database;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** What the witness must notice, told to it by hand. */
class WitnessTest {

  private static final UUID JOB = new UUID(1, 1);

  private final Witness witness = new Witness();

  @Test
  void a_job_that_is_tried_again_and_done_is_fine() {
    attempt(5);
    attempt(6);
    witness.succeeded(JOB, 6);

    assertThat(witness.violations()).isEmpty();
  }

  @Test
  void a_finished_job_that_is_granted_again_is_noticed() {
    attempt(5);
    witness.succeeded(JOB, 5);
    attempt(6);

    assertThat(witness.violations()).singleElement().asString().contains("granted again");
  }

  @Test
  void a_finished_job_that_is_granted_again_is_noticed_also_when_its_end_is_heard_late() {
    attempt(5);
    attempt(6);
    witness.succeeded(JOB, 5);

    assertThat(witness.violations()).singleElement().asString().contains("is granted under 6");
  }

  private void attempt(long fence) {
    witness.started(JOB, fence, List.of());
    witness.ended(JOB, fence);
  }
}
