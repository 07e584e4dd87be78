package dev.holdfast.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.schedule.Dst.Missing;
import dev.holdfast.schedule.Dst.Twice;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TriggerTest {

  private static final ZoneId BERLIN = ZoneId.of("Europe/Berlin");

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "*/15 * * * *     | 2026-01-01T00:15:00Z, 2026-01-01T00:30:00Z",
        "0 9 * * MON-FRI  | 2026-01-01T09:00:00Z, 2026-01-02T09:00:00Z, 2026-01-05T09:00:00Z",
        "0 0 1 * 0        | 2026-01-04T00:00:00Z, 2026-01-11T00:00:00Z",
        "*/20 * * * * *   | 2026-01-01T00:00:20Z, 2026-01-01T00:00:40Z, 2026-01-01T00:01:00Z",
        "0 30 6 * * SUN   | 2026-01-04T06:30:00Z, 2026-01-11T06:30:00Z",
        "0 0 29 2 *       | 2028-02-29T00:00:00Z, 2032-02-29T00:00:00Z",
        "@hourly          | 2026-01-01T01:00:00Z, 2026-01-01T02:00:00Z",
        "@daily           | 2026-01-02T00:00:00Z, 2026-01-03T00:00:00Z",
        "@midnight        | 2026-01-02T00:00:00Z, 2026-01-03T00:00:00Z",
        "@weekly          | 2026-01-04T00:00:00Z, 2026-01-11T00:00:00Z",
        "@monthly         | 2026-02-01T00:00:00Z, 2026-03-01T00:00:00Z",
        "@yearly          | 2027-01-01T00:00:00Z, 2028-01-01T00:00:00Z",
        "@annually        | 2027-01-01T00:00:00Z, 2028-01-01T00:00:00Z"
      })
  void an_expression_means_what_cron_means_by_it(String expression, String expected) {
    List<Instant> times = instants(expected);

    assertThat(next(Trigger.cron(expression), "2026-01-01T00:00:00Z", times.size()))
        .isEqualTo(times);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "* * * *",
        "* * * * * * *",
        "60 * * * *",
        "* 24 * * *",
        "* * 32 * *",
        "* * * 13 *",
        "* * * * 9",
        "a b c d e",
        "*/0 * * * *",
        "@often",
        "@reboot",
        "5-1 * * * *",
        "\0 * * * *"
      })
  void what_is_no_cron_expression_is_refused(String expression) {
    assertThatExceptionOfType(HoldfastException.class)
        .isThrownBy(() -> Trigger.cron(expression))
        .withMessageStartingWith("cron")
        .withMessageContaining("allowed: five fields")
        .satisfies(refusal -> assertThat(refusal.code()).isEqualTo(ErrorCode.INVALID_ARGUMENT));
  }

  @Test
  void utc_by_any_name_is_one_zone() {
    assertThat(Trigger.cron("0 5 * * *"))
        .isEqualTo(Trigger.cron("0 5 * * *", ZoneId.of("UTC")))
        .isEqualTo(Trigger.cron("0 5 * * *", Trigger.zone("Z")));
  }

  @Test
  void a_zone_nobody_knows_is_refused() {
    assertThatExceptionOfType(HoldfastException.class)
        .isThrownBy(() -> Trigger.zone("Europe/Atlantis"))
        .withMessageStartingWith("timezone");
  }

  @Test
  void a_time_that_never_comes_is_never_due() {
    assertThat(Trigger.cron("0 0 30 2 *").after(Instant.parse("2026-01-01T00:00:00Z"))).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(longs = {0, -1_000, 999, 1_500, 366L * 86_400_000 + 1_000})
  void an_interval_is_whole_seconds_within_limits(long millis) {
    assertThatExceptionOfType(HoldfastException.class)
        .isThrownBy(() -> Trigger.every(Duration.ofMillis(millis)))
        .withMessageStartingWith("every_seconds");
  }

  @ParameterizedTest
  @CsvSource({
    "ONCE, 2026-10-25T00:30:00Z 2026-10-26T01:30:00Z",
    "BOTH, 2026-10-25T00:30:00Z 2026-10-25T01:30:00Z 2026-10-26T01:30:00Z",
    "SKIP, 2026-10-26T01:30:00Z 2026-10-27T01:30:00Z"
  })
  void a_time_that_comes_twice_counts_as_often_as_it_is_told_to(Twice twice, String expected) {
    List<Instant> times = instants(expected.replace(' ', ','));
    Trigger halfPastTwo = Trigger.cron("30 2 * * *", BERLIN, new Dst(twice, Missing.SHIFT));

    assertThat(next(halfPastTwo, "2026-10-24T12:00:00Z", times.size())).isEqualTo(times);
  }

  @ParameterizedTest
  @CsvSource({
    "SHIFT, 2026-03-29T01:30:00Z 2026-03-30T00:30:00Z",
    "SKIP, 2026-03-30T00:30:00Z 2026-03-31T00:30:00Z"
  })
  void a_time_that_does_not_come_is_shifted_or_skipped(Missing missing, String expected) {
    List<Instant> times = instants(expected.replace(' ', ','));
    Trigger halfPastTwo = Trigger.cron("30 2 * * *", BERLIN, new Dst(Twice.ONCE, missing));

    assertThat(next(halfPastTwo, "2026-03-28T12:00:00Z", times.size())).isEqualTo(times);
  }

  @Test
  void a_shifted_time_that_is_one_already_counts_once() {
    Trigger halfHours = Trigger.cron("*/30 * * * *", BERLIN);

    assertThat(next(halfHours, "2026-03-29T00:29:59Z", 5))
        .isEqualTo(
            instants(
                "2026-03-29T00:30:00Z,2026-03-29T01:00:00Z,2026-03-29T01:30:00Z,"
                    + "2026-03-29T02:00:00Z,2026-03-29T02:30:00Z"));
  }

  @Test
  void an_interval_keeps_its_spacing_when_clocks_are_set() {
    Trigger hourly = Trigger.every(Duration.ofHours(1));

    assertThat(next(hourly, "2026-10-24T23:30:00Z", 4))
        .isEqualTo(
            instants(
                "2026-10-25T00:30:00Z,2026-10-25T01:30:00Z,2026-10-25T02:30:00Z,"
                    + "2026-10-25T03:30:00Z"));
  }

  private static List<Instant> instants(String text) {
    return List.of(text.split(",", -1)).stream().map(String::strip).map(Instant::parse).toList();
  }

  private static List<Instant> next(Trigger trigger, String from, int count) {
    List<Instant> found = new ArrayList<>();
    Optional<Instant> next = trigger.after(Instant.parse(from));
    while (next.isPresent() && found.size() < count) {
      found.add(next.get());
      next = trigger.after(next.get());
    }
    return found;
  }
}
