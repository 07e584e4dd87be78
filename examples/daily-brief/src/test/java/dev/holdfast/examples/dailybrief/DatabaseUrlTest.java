package dev.holdfast.examples.dailybrief;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DatabaseUrlTest {

  @ParameterizedTest
  @CsvSource({
    "postgresql://db/app, jdbc:postgresql://db/app",
    "postgres://ada@db:5433/app, jdbc:postgresql://db:5433/app?user=ada",
    "postgresql://ada:p%40ss+word@db/app?sslmode=require,"
        + "jdbc:postgresql://db/app?user=ada&password=p%40ss%2Bword&sslmode=require",
    "postgresql:///app, jdbc:postgresql://localhost/app",
    "jdbc:postgresql://db/app?user=x, jdbc:postgresql://db/app?user=x"
  })
  void both_forms_of_an_address_are_understood(String url, String jdbc) {
    assertThat(DatabaseUrl.toJdbc(url)).isEqualTo(jdbc);
  }

  @ParameterizedTest
  @ValueSource(strings = {"mysql://root:secret@db/app", "postgresql://ada:secret @db/app"})
  void other_addresses_are_refused_without_repeating_a_password(String url) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> DatabaseUrl.toJdbc(url))
        .withMessageContaining("postgresql://")
        .withMessageNotContaining("secret");
  }
}
