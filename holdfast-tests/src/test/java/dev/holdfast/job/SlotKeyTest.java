package dev.holdfast.job;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SlotKeyTest {

  private static final SlotKey KEY =
      new SlotKey("digest@night", Instant.parse("2026-01-01T07:30:00Z"));

  @Test
  void a_key_is_read_as_it_was_stored() {
    assertThat(SlotKey.of(KEY.stored())).contains(KEY);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "0000", "yesterday"})
  void a_key_whose_moment_cannot_be_read_belongs_to_no_slot(String moment) {
    String stored = KEY.stored();
    String spoiled = stored.substring(0, stored.length() - "2026-01-01T07:30:00Z".length());

    assertThat(SlotKey.of(spoiled + moment)).isEmpty();
  }
}
