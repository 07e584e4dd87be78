package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Holdfast;
import dev.holdfast.lease.Fences;
import dev.holdfast.server.HoldfastServer;
import dev.holdfast.server.ServerConfig;
import dev.holdfast.server.ServerRole;
import dev.holdfast.testkit.TestDatabase;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** What whoever runs a server does to it from a terminal. */
class OperationsTest {

  @TempDir Path directory;
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  @Test
  void doctor_asks_the_server_prints_a_line_for_each_check_and_fails_with_the_worst() {
    try (HoldfastServer server =
        HoldfastServer.start(
            ServerConfig.defaults(directory)
                .withAddress("127.0.0.1", 0)
                .withRoles(Set.of(ServerRole.WEB))
                .withUpkeep(false),
            TestDatabase.shared().dataSource(),
            Map.of())) {
      String address = "http://127.0.0.1:" + server.port().orElseThrow();
      String token = directory.resolve("admin.token").toString();

      // The tests' database forgets what it commits when the power fails, and that is a failure.
      assertThat(run("doctor", "--server", address, "--token-file", token)).isEqualTo(1);
      assertThat(out.toString())
          .containsPattern("(?m)^ok    database +PostgreSQL \\d+")
          .containsPattern("(?m)^fail  durability +.*fsync")
          .containsPattern("(?m)^      → set .* to on")
          .containsPattern("(?m)^ok    transport")
          .containsPattern("(?m)^(ok|warn)  +disk");
    }
  }

  @Test
  void doctor_looks_at_a_database_itself_and_speaks_json() {
    assertThat(run("doctor", "--database-url", TestDatabase.shared().jdbcUrl(), "-o", "json"))
        .isEqualTo(1);
    assertThat(out.toString())
        .startsWith("{\"level\":\"fail\",\"findings\":[{\"check\":\"database\",\"level\":\"ok\"")
        .doesNotContain("\"server\"");
  }

  @Test
  void doctor_says_what_is_not_there() {
    assertThat(run("doctor", "--server", "http://127.0.0.1:1")).isEqualTo(1);
    assertThat(out.toString()).contains("fail  server", "--database-url");

    assertThat(run("doctor", "--data", directory.resolve("none").toString())).isEqualTo(1);
    assertThat(out.toString()).contains("no database runs in", "holdfast server --data");
  }

  @Test
  void fences_of_a_database_of_ones_own_are_raised_by_a_command() {
    Holdfast.on(TestDatabase.shared().dataSource()).migrate();

    assertThat(run("fences", "raise", "--database-url", TestDatabase.shared().jdbcUrl())).isZero();

    assertThat(out.toString())
        .containsPattern("Tenant default goes on from fence (\\d{13,})")
        .doesNotContain(" " + (Fences.LEAP - 1));
    assertThat(run("fences", "raise", "--database-url", "")).isEqualTo(1);
    assertThat(err.toString()).contains("--database-url");
  }

  @Test
  void a_backup_or_restore_that_cannot_be_is_refused_in_a_sentence() {
    assertThat(run("backup", directory.resolve("b").toString(), "--data", directory.toString()))
        .isEqualTo(1);
    assertThat(err.toString()).contains("--data").contains("holdfast fences raise");
    assertThat(run("restore", directory.toString(), "--data", directory.resolve("new").toString()))
        .isEqualTo(1);
    assertThat(err.toString()).contains("backup.manifest").doesNotContain("\tat ");
    assertThat(run("restore", directory.toString())).isEqualTo(2);
    assertThat(err.toString()).contains("--data");
  }

  private int run(String... args) {
    CommandLine command = Main.commandLine();
    command.setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true));
    return command.execute(args);
  }
}
