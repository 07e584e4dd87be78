package dev.holdfast.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import org.junit.jupiter.api.Test;

class JacksonCodecTest {

  /** Has itself within. */
  public static final class Endless {
    public Endless getWithin() {
      return this;
    }
  }

  @Test
  void what_cannot_be_written_as_json_is_told_by_its_type() {
    assertThatExceptionOfType(HoldfastException.class)
        .isThrownBy(() -> new JacksonCodec().encode(new Endless()))
        .withMessageContaining(Endless.class.getName())
        .satisfies(refusal -> assertThat(refusal.code()).isEqualTo(ErrorCode.BAD_PAYLOAD));
  }
}
