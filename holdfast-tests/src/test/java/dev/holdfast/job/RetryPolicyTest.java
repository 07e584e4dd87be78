package dev.holdfast.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.RetryPolicy.Delays;
import dev.holdfast.job.RetryPolicy.Exponential;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RetryPolicyTest {

  // nextDouble() answers 0 or the largest number below 1.
  private static final RandomGenerator LOWEST = () -> 0L;
  private static final RandomGenerator HIGHEST = () -> -1L;

  @Test
  void no_retries_means_no_delay_to_wait_for() {
    assertThat(new RetryPolicy.None().delayAfter(0, LOWEST)).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"0, 60", "1, 300", "2, 900", "3, 900", "1000, 900"})
  void listed_delays_are_taken_in_turn_and_the_last_repeats(int earlierFailures, long seconds) {
    assertThat(Policy.DEFAULTS.retry().delayAfter(earlierFailures, LOWEST))
        .contains(Duration.ofSeconds(seconds));
  }

  @ParameterizedTest
  @CsvSource({
    "0, 30",
    "1, 60",
    "2, 120",
    "3, 240",
    "6, 1920",
    "7, 3600",
    "8, 3600",
    "63, 3600",
    "1000, 3600"
  })
  void exponential_delays_double_with_every_earlier_failure_up_to_the_cap(
      int earlierFailures, long seconds) {
    assertThat(Exponential.DEFAULTS.delayAfter(earlierFailures, LOWEST))
        .contains(Duration.ofSeconds(seconds));
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 3, 7, 50})
  void jitter_adds_at_most_a_fifth_and_never_takes_away(int earlierFailures) {
    Duration least = Exponential.DEFAULTS.delayAfter(earlierFailures, LOWEST).orElseThrow();
    Duration most = Exponential.DEFAULTS.delayAfter(earlierFailures, HIGHEST).orElseThrow();
    Random dice = new Random(42);

    assertThat(most).isLessThanOrEqualTo(least.multipliedBy(6).dividedBy(5));
    assertThat(most).isGreaterThan(least.multipliedBy(119).dividedBy(100));
    for (int i = 0; i < 1_000; i++) {
      assertThat(Exponential.DEFAULTS.delayAfter(earlierFailures, dice).orElseThrow())
          .isBetween(least, most);
    }
  }

  @Test
  void jitter_spreads_a_crowd() {
    Random dice = new Random(42);

    var delays =
        Stream.generate(() -> Exponential.DEFAULTS.delayAfter(3, dice)).limit(100).distinct();

    assertThat(delays.count()).isGreaterThan(50);
  }

  @Test
  void the_longest_allowed_delays_do_not_overflow() {
    Exponential longest = new Exponential(RetryPolicy.LONGEST_DELAY, RetryPolicy.LONGEST_DELAY, 1);

    assertThat(longest.delayAfter(Integer.MAX_VALUE, HIGHEST).orElseThrow())
        .isBetween(RetryPolicy.LONGEST_DELAY, RetryPolicy.LONGEST_DELAY.multipliedBy(2));
  }

  @Test
  void a_base_over_the_cap_is_cut_to_it_and_one_of_zero_does_not_wait() {
    Exponential over = new Exponential(Duration.ofHours(2), Duration.ofHours(1), 0);
    Exponential zero = new Exponential(Duration.ZERO, Duration.ofHours(1), 0);

    assertThat(over.delayAfter(0, HIGHEST)).contains(Duration.ofHours(1));
    assertThat(zero.delayAfter(5, HIGHEST)).contains(Duration.ZERO);
  }

  @Test
  void a_negative_base_or_a_cap_of_more_than_thirty_days_is_refused() {
    refused(
        "retry.base_seconds",
        () -> new Exponential(Duration.ofSeconds(-1), Duration.ofHours(1), 0));
    refused(
        "retry.cap_seconds", () -> new Exponential(Duration.ofSeconds(1), Duration.ofDays(31), 0));
  }

  @ParameterizedTest
  @ValueSource(doubles = {-0.1, 1.1, Double.NaN, Double.POSITIVE_INFINITY})
  void jitter_outside_zero_to_one_is_refused(double jitter) {
    refused(
        "retry.jitter", () -> new Exponential(Duration.ofSeconds(1), Duration.ofHours(1), jitter));
  }

  @Test
  void a_list_of_delays_has_one_to_a_hundred_of_at_most_thirty_days() {
    refused("retry.delays_seconds", () -> new Delays(List.of()));
    refused("retry.delays_seconds", () -> new Delays(Collections.nCopies(101, Duration.ZERO)));
    refused("retry.delays_seconds", () -> new Delays(List.of(Duration.ofDays(31))));
    refused("retry.delays_seconds", () -> new Delays(List.of(Duration.ofMillis(-1))));
    assertThat(new Delays(Collections.nCopies(100, Duration.ZERO)).delays()).hasSize(100);
  }

  private static void refused(String field, Runnable making) {
    assertThatExceptionOfType(HoldfastException.class)
        .isThrownBy(making::run)
        .withMessageStartingWith(field + " is ");
  }
}
