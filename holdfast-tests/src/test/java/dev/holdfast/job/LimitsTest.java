package dev.holdfast.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LimitsTest {

  private static final String PAIR = "\uD83D\uDE80"; // one character, two chars, four bytes

  @ParameterizedTest
  @ValueSource(strings = {"a", "email", "Grüße an alle", "日本語", "a b\"c'd\\e;--"})
  void a_name_may_be_any_printable_text(String name) {
    assertThat(Limits.name("kind", name)).isEqualTo(name);
  }

  @Test
  void a_name_has_one_to_two_hundred_characters() {
    assertThat(Limits.name("kind", "x".repeat(200))).hasSize(200);
    refused("kind", () -> Limits.name("kind", "x".repeat(201)));
    refused("kind", () -> Limits.name("kind", ""));
  }

  @ParameterizedTest
  @ValueSource(strings = {"a\nb", "a\tb", "a\0b", "a\u001bb", "a\u007fb", "a\u0085b"})
  void control_characters_in_a_name_are_refused_and_not_repeated(String name) {
    assertThatExceptionOfType(HoldfastException.class)
        .isThrownBy(() -> Limits.name("queue", name))
        .withMessageStartingWith("queue is ")
        .withMessageContaining("no control characters");
  }

  @Test
  void a_megabyte_is_not_repeated_in_the_message_that_refuses_it() {
    assertThatExceptionOfType(HoldfastException.class)
        .isThrownBy(() -> Limits.name("kind", "x".repeat(1_000_000)))
        .satisfies(refusal -> assertThat(refusal.getMessage()).hasSizeLessThan(200));
  }

  @Test
  void a_payload_is_measured_in_bytes() {
    String fits = "x".repeat(Limits.PAYLOAD_BYTES);
    String fitsInFours = PAIR.repeat(Limits.PAYLOAD_BYTES / 4);

    assertThat(new Payload(fits).json()).isEqualTo(fits);
    assertThat(new Payload(fitsInFours).json()).isEqualTo(fitsInFours);
    refused("payload", () -> new Payload(fits + "x"));
    refused("payload", () -> new Payload("x" + fitsInFours));
    refused("payload", () -> new Payload("日".repeat(Limits.PAYLOAD_BYTES / 3 + 1)));
  }

  @Test
  void text_that_fits_is_not_cut() {
    assertThat(Limits.cut("abc", 3)).isEqualTo("abc");
    assertThat(Limits.cut("", 3)).isEmpty();
  }

  @Test
  void text_that_is_too_long_is_cut_and_says_so() {
    assertThat(Limits.cut("abcd", 3)).isEqualTo("abc… (cut)");
  }

  @Test
  void a_cut_never_splits_a_character() {
    String cut = Limits.cut("ab" + PAIR + "cd", 3);

    assertThat(cut).isEqualTo("ab… (cut)");
    assertThat(StandardCharsets.UTF_8.newEncoder().canEncode(cut)).isTrue();
    assertThat(Limits.cut("a" + PAIR + "cd", 3)).isEqualTo("a" + PAIR + "… (cut)");
  }

  @Test
  void a_nul_which_the_database_cannot_store_is_replaced() {
    assertThat(Limits.cut("a\0b", 10)).isEqualTo("a\uFFFDb");
    assertThat(Limits.cut("a\0bcd", 3)).isEqualTo("a\uFFFDb… (cut)");
  }

  @Test
  void a_job_has_at_most_32_tags_and_each_is_a_name() {
    NewJob job = NewJob.of("email", "ada");

    assertThat(job.withTags(Collections.nCopies(32, "t")).tags()).hasSize(32);
    refused("tags", () -> job.withTags(Collections.nCopies(33, "t")));
    refused("tags", () -> job.withTags("a\nb"));
  }

  @Test
  void a_priority_fits_its_column() {
    NewJob job = NewJob.of("email", "ada");

    assertThat(job.withPriority(Short.MAX_VALUE).priority()).isEqualTo(Short.MAX_VALUE);
    refused("priority", () -> job.withPriority(Short.MAX_VALUE + 1));
    refused("priority", () -> job.withPriority(Short.MIN_VALUE - 1));
  }

  private static void refused(String field, Runnable use) {
    assertThatExceptionOfType(HoldfastException.class)
        .isThrownBy(use::run)
        .withMessageStartingWith(field + " is ")
        .satisfies(refusal -> assertThat(refusal.code()).isEqualTo(ErrorCode.INVALID_ARGUMENT));
  }
}
