package dev.holdfast.soak;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class DriftTest {

  @Test
  void what_grows_by_a_little_all_the_time_is_seen() {
    assertThat(Drift.of("heap", line(100, 0.5), 0).grows()).isTrue();
  }

  @Test
  void what_grows_at_first_and_stays_is_none() {
    List<Double> samples = IntStream.range(0, 90).mapToObj(i -> (double) Math.min(i, 30)).toList();

    assertThat(Drift.of("tables", samples, 0).grows()).isFalse();
  }

  @Test
  void what_goes_up_and_down_is_none() {
    List<Double> samples = IntStream.range(0, 90).mapToObj(i -> 100 + 40 * Math.sin(i)).toList();

    assertThat(Drift.of("heap", samples, 0).grows()).isFalse();
  }

  @Test
  void a_few_more_than_a_few_are_within_the_slack() {
    List<Double> samples = IntStream.range(0, 90).mapToObj(i -> i < 60 ? 5.0 : 7.0).toList();

    assertThat(Drift.of("connections", samples, 3).grows()).isFalse();
    assertThat(Drift.of("connections", samples, 1).grows()).isTrue();
  }

  @Test
  void one_outlier_is_none() {
    List<Double> samples = new ArrayList<>(Collections.nCopies(90, 10.0));
    samples.set(75, 500.0);

    assertThat(Drift.of("threads", samples, 0).grows()).isFalse();
  }

  private static List<Double> line(double from, double step) {
    return IntStream.range(0, 90).mapToObj(i -> from + i * step).toList();
  }
}
