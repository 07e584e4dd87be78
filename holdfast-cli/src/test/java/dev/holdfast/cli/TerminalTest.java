package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** A job's words do nothing to the terminal of whoever reads them. */
class TerminalTest {

  @Test
  void what_a_terminal_would_obey_is_left_out_and_all_else_stays() {
    assertThat(Terminal.harmless("\u001b]0;title\u0007\u001b[2Jgone\r\b\u007f\u009b31m"))
        .isEqualTo("]0;title[2Jgone31m");
    assertThat(Terminal.harmless("a\tb é 日本 \ud83d\ude00 {}"))
        .isEqualTo("a\tb é 日本 \ud83d\ude00 {}");
  }

  @Test
  void lines_of_a_longer_text_stay_lines() {
    assertThat(Terminal.harmlessText("one\r\ntwo\u001b[2J\n")).isEqualTo("one\ntwo[2J");
  }
}
