package dev.holdfast.loop;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class PaceTest {

  private final AtomicLong nanos = new AtomicLong();
  private final Pace pace = new Pace(nanos::get);

  @Test
  void rounds_that_come_now_and_then_never_wait() {
    for (int i = 0; i < 100; i++) {
      round(Duration.ofMillis(4));
      pass(Duration.ofMillis(16));

      assertThat(pace.untilNextNanos()).isNotPositive();
    }
  }

  @Test
  void rounds_without_end_wait_four_times_as_long_as_each_takes() {
    for (int i = 0; i < 10; i++) {
      round(Duration.ofMillis(1));
    }
    pass(Duration.ofNanos(pace.untilNextNanos()));

    round(Duration.ofMillis(1));

    assertThat(pace.untilNextNanos()).isEqualTo(Duration.ofMillis(4).toNanos());
  }

  @Test
  void nobody_waits_longer_than_a_moment() {
    round(Duration.ofSeconds(10));

    assertThat(pace.untilNextNanos()).isEqualTo(Duration.ofMillis(20).toNanos());
  }

  private void round(Duration cost) {
    if (pace.untilNextNanos() <= 0) {
      pace.begin();
    }
    pass(cost);
    pace.end();
  }

  private void pass(Duration time) {
    nanos.addAndGet(time.toNanos());
  }
}
