package dev.holdfast.soak;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.holdfast.soak.Drift.Allowance;
import dev.holdfast.soak.Drift.Sample;
import java.util.List;
import java.util.Random;
import java.util.function.DoubleUnaryOperator;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** An hour with a sample every ten seconds, as a function of the minute. */
class DriftTest {

  private static final Allowance HEAP = Gauge.HEAP_MEGABYTES.allowance(true);
  private static final Allowance THREADS = Gauge.THREADS.allowance(true);

  private final RandomGenerator dice = new Random(7);

  @Test
  void what_is_flat_does_not_grow() {
    Drift flat = hour(HEAP, minute -> 40);

    assertThat(flat.grows()).isFalse();
    assertThat(flat.perHour()).isZero();
  }

  @Test
  void what_grows_by_a_little_all_the_time_is_seen_with_how_much() {
    Drift leak = hour(HEAP, minute -> 40 + minute * 8 / 20);

    assertThat(leak.grows()).isTrue();
    assertThat(leak.perHour()).isEqualTo(24, within(0.01));
    assertThat(leak.last()).isGreaterThan(leak.first());
  }

  @Test
  void a_heap_that_gains_a_tenth_in_an_hour_is_seen() {
    assertThat(hour(HEAP, minute -> 40 + 4.5 * minute / 60).grows()).isTrue();
  }

  @Test
  void fourteen_more_threads_of_sixty_are_seen_though_they_come_one_by_one() {
    assertThat(hour(THREADS, minute -> 60 + Math.floor(14 * minute / 60)).grows()).isTrue();
  }

  @Test
  void one_thread_more_whenever_a_server_restarts_is_seen() {
    assertThat(hour(THREADS, minute -> 60 + Math.floor(minute / 10)).grows()).isTrue();
  }

  @Test
  void noise_does_not_grow_and_does_not_hide_what_does() {
    assertThat(hour(HEAP, minute -> 40 + 3 * dice.nextGaussian()).grows()).isFalse();
    assertThat(hour(HEAP, minute -> 40 + 3 * dice.nextGaussian() + minute / 5).grows()).isTrue();
  }

  @Test
  void a_saw_tooth_does_not_grow_and_one_whose_floor_rises_does() {
    DoubleUnaryOperator teeth = minute -> 40 + 30 * (minute % 3) / 3;

    assertThat(hour(HEAP, teeth).grows()).isFalse();
    assertThat(hour(HEAP, minute -> teeth.applyAsDouble(minute) + minute / 6).grows()).isTrue();
  }

  @Test
  void what_grows_at_first_and_stays_does_not() {
    assertThat(hour(HEAP, minute -> Math.min(minute, 19)).grows()).isFalse();
  }

  @Test
  void what_shrinks_does_not_grow() {
    assertThat(hour(HEAP, minute -> 100 - minute).grows()).isFalse();
  }

  @Test
  void a_few_outliers_mean_nothing() {
    assertThat(hour(THREADS, minute -> minute > 55 && minute < 56 ? 500 : 60).grows()).isFalse();
  }

  @Test
  void what_comes_within_seconds_is_held_against_the_noise_alone() {
    List<Sample> seconds =
        IntStream.range(0, 15).mapToObj(i -> new Sample(i * 2 / 3600.0, 60 + i)).toList();

    assertThat(Drift.of("threads", seconds, new Allowance(8, 1)).grows()).isTrue();
    assertThat(Drift.of("threads", seconds, new Allowance(16, 1)).grows()).isFalse();
  }

  @Test
  void too_few_samples_are_no_answer() {
    List<Sample> few = IntStream.range(0, 5).mapToObj(i -> new Sample(i, i)).toList();

    assertThatThrownBy(() -> Drift.of("threads", few, THREADS)).hasMessageContaining("5 samples");
  }

  private static Drift hour(Allowance allowance, DoubleUnaryOperator byMinute) {
    List<Sample> samples =
        IntStream.range(0, 360)
            .mapToDouble(i -> i / 6.0)
            .mapToObj(minute -> new Sample(minute / 60, byMinute.applyAsDouble(minute)))
            .toList();
    return Drift.of("it", samples, allowance);
  }
}
