package dev.holdfast.job;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class FailureTest {

  /** A stranger's exception. */
  private static final class Speechless extends RuntimeException {
    private static final long serialVersionUID = 1L;

    @Override
    public String getMessage() {
      throw new IllegalStateException("no words");
    }
  }

  @Test
  void an_exception_that_has_no_words_for_itself_is_told_by_its_type() {
    Failure failure = Failure.of(new IllegalArgumentException("outer", new Speechless()));

    assertThat(failure.message()).contains("outer").endsWith(Speechless.class.getName());
  }
}
