package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testkit.TestDatabase;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class MigrateCommandTest {

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  @Test
  void migrate_makes_the_tables_and_says_which_tenants_there_are() {
    int exit =
        run("migrate", "--database-url", TestDatabase.shared().jdbcUrl(), "--tenant", "cli_test");

    assertThat(err.toString()).isEmpty();
    assertThat(exit).isZero();
    assertThat(out.toString()).contains("default").contains("cli_test");
  }

  @Test
  void print_shows_the_sql_and_needs_no_database() {
    int exit = run("migrate", "--print", "--grant-to", "app");

    assertThat(exit).isZero();
    assertThat(out.toString())
        .contains("CREATE TABLE holdfast_default.job ")
        .contains("GRANT USAGE ON SCHEMA holdfast_default TO app")
        .doesNotContain("{schema}");
  }

  @Test
  void an_error_is_a_sentence_and_not_a_stack_trace() {
    int exit = run("migrate", "--database-url", "mysql://root:secret@db/app");

    assertThat(exit).isEqualTo(1);
    assertThat(err.toString()).contains("--database-url").contains("postgresql://");
    assertThat(err.toString()).doesNotContain("secret").doesNotContain("\tat ");
  }

  @ParameterizedTest
  @CsvSource({
    "postgresql://db/app, jdbc:postgresql://db/app",
    "postgres://ada@db:5433/app, jdbc:postgresql://db:5433/app?user=ada",
    "postgresql://ada:p%40ss%3Aword@db/app?sslmode=require,"
        + "jdbc:postgresql://db/app?user=ada&password=p%40ss%3Aword&sslmode=require",
    "jdbc:postgresql://db/app?user=x, jdbc:postgresql://db/app?user=x"
  })
  void both_forms_of_a_database_address_are_understood(String given, String jdbc) {
    assertThat(DatabaseUrl.parse(given).jdbc()).isEqualTo(jdbc);
  }

  @Test
  void a_password_is_never_shown() {
    assertThat(DatabaseUrl.parse("postgresql://ada:secret@db/app").toString())
        .doesNotContain("secret");
  }

  private int run(String... args) {
    CommandLine command = Main.commandLine();
    command.setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true));
    return command.execute(args);
  }
}
