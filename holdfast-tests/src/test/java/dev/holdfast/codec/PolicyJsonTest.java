package dev.holdfast.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Policy;
import dev.holdfast.job.Policy.OnFailure;
import dev.holdfast.job.Policy.OnLeaseLost;
import dev.holdfast.job.Policy.OnStop;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.job.RetryPolicy;
import dev.holdfast.job.TimeLimit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PolicyJsonTest {

  private final PolicyJson json = new PolicyJson();

  @Test
  void whatever_was_said_is_read_as_it_was_written() {
    List<PolicyOverrides> all = everyCombination();

    assertThat(all).hasSizeGreaterThan(1_000);
    for (PolicyOverrides policy : all) {
      assertThat(json.read(json.write(policy))).isEqualTo(policy);
    }
  }

  @Test
  void nothing_said_is_an_empty_object() {
    assertThat(json.write(PolicyOverrides.NONE)).isEqualTo("{}");
    assertThat(json.read("{}")).isEqualTo(PolicyOverrides.NONE);
  }

  @Test
  void a_policy_reads_like_the_api() {
    PolicyOverrides policy =
        PolicyOverrides.NONE
            .withMaxAttempts(5)
            .withRetry(
                new RetryPolicy.Exponential(Duration.ofSeconds(30), Duration.ofHours(1), 0.2))
            .withTimeout(TimeLimit.NONE)
            .withLeaseLength(Duration.ofMillis(1_500))
            .withOnLeaseLost(OnLeaseLost.FAIL)
            .withOnStop(OnStop.PAUSE)
            .withOnFailure(OnFailure.HOLD);

    assertThat(json.write(policy))
        .isEqualTo(
            """
            {"max_attempts":5,\
            "retry":{"type":"exponential","base_seconds":30.0,"cap_seconds":3600.0,"jitter":0.2},\
            "timeout_seconds":null,"lease_seconds":1.5,\
            "on_lease_lost":"fail","on_stop":"pause","on_failure":"hold"}\
            """);
  }

  @Test
  void no_timeout_is_said_by_null_and_an_open_one_by_silence() {
    assertThat(json.read("{\"timeout_seconds\": null}").timeout()).contains(TimeLimit.NONE);
    assertThat(json.read("{}").timeout()).isEmpty();
    assertThat(json.read("{\"timeout_seconds\": 1.5}").timeout())
        .contains(TimeLimit.of(Duration.ofMillis(1_500)));
  }

  @Test
  void parts_of_an_exponential_retry_that_are_left_out_have_defaults() {
    assertThat(json.read("{\"retry\": {\"type\": \"exponential\"}}").retry())
        .contains(RetryPolicy.Exponential.DEFAULTS);
    assertThat(json.read("{\"retry\": {\"type\": \"exponential\", \"jitter\": 0}}").retry())
        .contains(new RetryPolicy.Exponential(Duration.ofSeconds(30), Duration.ofHours(1), 0));
  }

  @Test
  void delays_of_a_schedule_that_are_left_out_are_the_engines() {
    RetryPolicy engines =
        new RetryPolicy.Delays(
            Stream.of(60, 300, 900).map(seconds -> Duration.ofSeconds(seconds)).toList());

    assertThat(json.read("{\"retry\": {\"type\": \"schedule\"}}").retry()).contains(engines);
    assertThat(json.read("{\"retry\": {\"type\": \"schedule\", \"delays_seconds\": null}}").retry())
        .contains(engines);
    assertThat(Policy.DEFAULTS.retry()).isEqualTo(engines);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{'max_attempts': 0}                                              | max_attempts",
        "{'max_attempts': 1001}                                           | max_attempts",
        "{'max_attempts': -1}                                             | max_attempts",
        "{'lease_seconds': 0.5}                                           | lease_seconds",
        "{'lease_seconds': 86401}                                         | lease_seconds",
        "{'lease_seconds': 1e300}                                         | lease_seconds",
        "{'timeout_seconds': 0}                                           | timeout",
        "{'timeout_seconds': 2592001}                                     | timeout",
        "{'on_lease_lost': 'shrug'}                                       | on_lease_lost",
        "{'on_stop': 'explode'}                                           | on_stop",
        "{'on_stop': 7}                                                   | on_stop",
        "{'on_failure': ''}                                               | on_failure",
        "{'retry': {}}                                                    | retry.type",
        "{'retry': 'often'}                                               | retry",
        "{'max_attempts': 'abc'}                                          | max_attempts",
        "{'token_limit': 0}                                               | token_limit",
        "{'target_count': 0}                                              | target_count",
        "{'target_count': 1.5}                                            | target_count",
        "{'max_attempts': 1.5}                                            | max_attempts",
        "{'max_attempt': 3}                                               | max_attempt",
        "{'lease_seconds': 'abc'}                                         | lease_seconds",
        "{'retry': {'type': 'exponential', 'jitter': 'x'}}                | retry.jitter",
        "{'retry': {'type': 'schedule', 'delays_seconds': ['x']}}         | retry.delays_seconds",
        "{'retry': {'type': 'none', 'speed': 1}}                          | retry.speed",
        "[1]                                                              | policy",
        "nonsense                                                         | policy",
        "{'retry': {'type': 'often'}}                                     | retry.type",
        "{'retry': {'type': 'schedule', 'delays_seconds': 60}}            | retry.delays_seconds",
        "{'retry': {'type': 'schedule', 'delays_seconds': []}}            | retry.delays_seconds",
        "{'retry': {'type': 'schedule', 'delays_seconds': [-1]}}          | retry.delays_seconds",
        "{'retry': {'type': 'exponential', 'base_seconds': -1}}           | retry.base_seconds",
        "{'retry': {'type': 'exponential', 'base_seconds': 2592001}}      | retry.base_seconds",
        "{'retry': {'type': 'exponential', 'cap_seconds': 9999999}}       | retry.cap_seconds",
        "{'retry': {'type': 'exponential', 'jitter': 2}}                  | retry.jitter"
      },
      quoteCharacter = '`')
  void a_bad_value_is_refused_and_its_field_named(String text, String field) {
    assertThatExceptionOfType(HoldfastException.class)
        .isThrownBy(() -> json.read(text.replace('\'', '"')))
        .withMessageStartingWith(field)
        .withMessageContaining("allowed: ")
        .satisfies(refusal -> assertThat(refusal.code()).isEqualTo(ErrorCode.INVALID_ARGUMENT));
  }

  @Test
  void a_bad_choice_is_refused_with_the_choices_there_are() {
    assertThatExceptionOfType(HoldfastException.class)
        .isThrownBy(() -> json.read("{\"on_stop\": \"explode\"}"))
        .withMessageContaining("\"explode\"")
        .withMessageContaining("cancel")
        .withMessageContaining("pause");
  }

  private static List<PolicyOverrides> everyCombination() {
    List<Optional<RetryPolicy>> retries =
        List.of(
            Optional.empty(),
            Optional.of(new RetryPolicy.None()),
            Optional.of(new RetryPolicy.Delays(List.of(Duration.ZERO, Duration.ofMillis(1_001)))),
            Optional.of(new RetryPolicy.Exponential(Duration.ofMillis(1), Duration.ofDays(30), 1)));
    List<Optional<TimeLimit>> timeouts =
        List.of(
            Optional.empty(),
            Optional.of(TimeLimit.NONE),
            Optional.of(TimeLimit.of(Duration.ofMillis(1))),
            Optional.of(TimeLimit.of(Duration.ofDays(30))));
    List<PolicyOverrides> all = new ArrayList<>();
    for (Optional<Integer> attempts :
        List.of(Optional.<Integer>empty(), Optional.of(1), Optional.of(1_000))) {
      for (Optional<RetryPolicy> retry : retries) {
        for (Optional<TimeLimit> timeout : timeouts) {
          for (Optional<Duration> lease :
              List.of(
                  Optional.<Duration>empty(),
                  Optional.of(Duration.ofSeconds(1)),
                  Optional.of(Duration.ofDays(1)))) {
            for (Optional<OnLeaseLost> onLeaseLost : choices(OnLeaseLost.values())) {
              for (Optional<OnStop> onStop : choices(OnStop.values())) {
                for (Optional<OnFailure> onFailure : choices(OnFailure.values())) {
                  all.add(
                      new PolicyOverrides(
                          attempts,
                          retry,
                          timeout,
                          lease,
                          onLeaseLost,
                          onStop,
                          onFailure,
                          attempts.map(Integer::longValue),
                          lease.map(Duration::toMillis),
                          Optional.empty(),
                          Optional.empty()));
                }
              }
            }
          }
        }
      }
    }
    return all;
  }

  private static <E> List<Optional<E>> choices(E[] values) {
    return Stream.concat(Stream.of(Optional.<E>empty()), Arrays.stream(values).map(Optional::of))
        .toList();
  }
}
