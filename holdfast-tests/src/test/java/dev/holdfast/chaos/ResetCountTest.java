package dev.holdfast.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** What was counted before a crash of the database still counts after it. */
class ResetCountTest {

  @Test
  void a_count_that_only_grows_is_its_last_value() {
    assertThat(total()).isZero();
    assertThat(total(0, 0, 2, 2, 3)).isEqualTo(3);
  }

  @Test
  void what_was_counted_before_a_reset_is_added() {
    assertThat(total(0, 2, 0)).isEqualTo(2);
    assertThat(total(2, 0, 0, 1, 1, 0, 4)).isEqualTo(7);
  }

  private static long total(long... seen) {
    ResetCount count = new ResetCount();
    LongStream.of(seen).forEach(count::sees);
    return count.total();
  }
}
