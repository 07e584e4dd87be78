package dev.holdfast.bench.guard;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class VerdictTest {

  private static final Ratios RECORDED = Ratios.parse("W1 drain: 0.500\nW4 sustained: 1.000\n");

  @Test
  void a_ratio_may_drift_by_a_fifth() {
    Verdict verdict = verdict(Map.of("W1 drain", 0.4, "W4 sustained", 1.3));

    assertThat(verdict.passes()).isTrue();
    assertThat(verdict.lines())
        .containsExactly(
            "W1 drain: 0.40 of raw, recorded 0.50", "W4 sustained: 1.30 of raw, recorded 1.00");
  }

  @Test
  void a_ratio_that_fell_further_is_named() {
    Verdict verdict = verdict(Map.of("W1 drain", 0.39, "W4 sustained", 1.0));

    assertThat(verdict.passes()).isFalse();
    assertThat(verdict.fallen()).containsExactly("W1 drain");
    assertThat(verdict.lines().getFirst()).contains("TOO SLOW");
  }

  @Test
  void a_row_that_was_not_measured_does_not_pass_in_silence() {
    Verdict verdict = verdict(Map.of("W1 drain", 0.5));

    assertThat(verdict.fallen()).containsExactly("W4 sustained");
  }

  @Test
  void a_run_that_measured_nothing_does_not_pass() {
    Verdict verdict = verdict(Map.of("W1 drain", Double.NaN, "W4 sustained", 1.0));

    assertThat(verdict.fallen()).containsExactly("W1 drain");
  }

  @Test
  void a_row_without_a_record_is_shown_and_passes() {
    Verdict verdict = verdict(Map.of("W1 drain", 0.5, "W4 sustained", 1.0, "W2c bulk", 0.7));

    assertThat(verdict.passes()).isTrue();
    assertThat(verdict.lines()).contains("W2c bulk: 0.70 of raw, none recorded");
  }

  @Test
  void ratios_are_read_as_they_were_written() {
    assertThat(Ratios.parse(RECORDED.toText())).isEqualTo(RECORDED);
  }

  private static Verdict verdict(Map<String, Double> measured) {
    return Verdict.on(new Ratios(measured), RECORDED);
  }
}
