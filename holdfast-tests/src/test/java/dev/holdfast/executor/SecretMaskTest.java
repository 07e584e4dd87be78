package dev.holdfast.executor;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class SecretMaskTest {

  private static final List<String> SECRETS = List.of("abab", "ab", "abcde", "x");

  @Test
  void the_longest_secret_at_a_place_wins() {
    assertThat(SecretMask.mask(SECRETS, "abcdef ab abc x")).isEqualTo("***f *** ***c ***");
  }

  @Test
  void where_a_text_is_split_makes_no_difference() {
    Random random = new Random(42);
    for (int round = 0; round < 2_000; round++) {
      StringBuilder text = new StringBuilder();
      for (int i = random.nextInt(30); i >= 0; i--) {
        text.append("abcdex \n".charAt(random.nextInt(8)));
      }
      SecretMask mask = new SecretMask(SECRETS);
      StringBuilder told = new StringBuilder();
      for (int from = 0; from < text.length(); ) {
        int to = from + random.nextInt(text.length() - from + 1);
        told.append(mask.next(text.substring(from, to)));
        from = to;
      }

      told.append(mask.last());

      assertThat(told.toString())
          .as(text.toString())
          .isEqualTo(SecretMask.mask(SECRETS, text.toString()));
    }
  }

  @Test
  void only_what_may_become_a_secret_is_held_back() {
    SecretMask mask = new SecretMask(List.of("password"));

    assertThat(mask.next("a pass")).isEqualTo("a ");
    assertThat(mask.next("age, pa")).isEqualTo("passage, ");
    assertThat(mask.next("ssword")).isEqualTo("***");
    assertThat(mask.last()).isEmpty();
  }

  @Test
  void each_line_of_a_key_is_a_secret_and_nothing_is_none() {
    assertThat(SecretMask.mask(List.of("BEGIN\n\nm4terial\n", "", " "), "the m4terial of\nBEGIN"))
        .isEqualTo("the *** of\n***");
  }
}
