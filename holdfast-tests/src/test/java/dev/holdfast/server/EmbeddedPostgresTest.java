package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.server.postgres.EmbeddedPostgres;
import dev.holdfast.server.postgres.TestPrograms;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The server's own PostgreSQL is a real one: durable, guarded, and there again after anything. */
class EmbeddedPostgresTest {

  @TempDir Path data;

  @Test
  void it_is_durable_and_lets_nobody_in_without_its_password() throws Exception {
    try (EmbeddedPostgres postgres = start()) {
      assertThat(ask(postgres, "SHOW fsync")).isEqualTo("on");
      assertThat(ask(postgres, "SHOW synchronous_commit")).isEqualTo("on");
      assertThat(ask(postgres, "SHOW data_checksums")).isEqualTo("on");
      assertThat(ask(postgres, "SHOW listen_addresses")).isEqualTo("127.0.0.1");
      assertThatThrownBy(() -> connect(postgres, "guess")).isInstanceOf(SQLException.class);
      assertThat(mode(data.resolve("database.password"))).isEqualTo("rw-------");
      assertThat(mode(data.resolve("database"))).isEqualTo("rwx------");
    }
  }

  @Test
  void what_was_committed_is_there_after_a_stop_and_after_a_kill() throws Exception {
    try (EmbeddedPostgres postgres = start()) {
      execute(postgres, "CREATE TABLE kept (n integer)");
      execute(postgres, "INSERT INTO kept VALUES (1)");
    }
    try (EmbeddedPostgres postgres = start()) {
      assertThat(ask(postgres, "SELECT count(*) FROM kept")).isEqualTo("1");
      execute(postgres, "INSERT INTO kept VALUES (2)");
      kill(data);

      assertThat(askUntilItAnswers(postgres, "SELECT count(*) FROM kept")).isEqualTo("2");
    }
  }

  // As when its disk is full: it takes until somebody has made room.
  @Test
  void one_that_does_not_come_up_again_at_the_first_try_is_tried_again() throws Exception {
    try (EmbeddedPostgres postgres = start()) {
      Path settings = data.resolve("database").resolve("postgresql.auto.conf");
      Files.writeString(settings, "nonsense = on\n");
      kill(data);
      while (!Files.readString(data.resolve("database.log")).contains("nonsense")) {
        Thread.onSpinWait(); // until a start has failed of it
      }
      Files.writeString(settings, "");

      assertThat(askUntilItAnswers(postgres, "SELECT 1")).isEqualTo("1");
    }
  }

  @Test
  void a_second_server_on_the_same_directory_is_refused_by_name() throws Exception {
    try (EmbeddedPostgres postgres = start()) {
      assertThat(postgres.jdbcUrl()).contains("127.0.0.1");

      assertThatThrownBy(this::start)
          .hasMessageContaining("--data")
          .hasMessageContaining(String.valueOf(ProcessHandle.current().pid()));
    }
  }

  @Test
  void a_start_that_was_cut_off_leaves_nothing_in_the_way() throws Exception {
    Files.createDirectories(data.resolve("database.new").resolve("base"));
    Files.createDirectories(data.resolve("postgres.new").resolve("bin"));

    try (EmbeddedPostgres postgres = EmbeddedPostgres.start(data)) {
      assertThat(ask(postgres, "SELECT 1")).isEqualTo("1");
    }
  }

  @Test
  void programs_of_an_earlier_holdfast_are_replaced() throws Exception {
    Path program = data.resolve("postgres").resolve("bin").resolve("postgres");
    Files.createDirectories(program.getParent());
    Files.writeString(program, "#!/bin/false");

    try (EmbeddedPostgres postgres = EmbeddedPostgres.start(data)) {
      assertThat(ask(postgres, "SELECT 1")).isEqualTo("1");
    }

    assertThat(Files.size(program)).isGreaterThan(1_000_000);
    assertThat(data.resolve("postgres.old")).doesNotExist();
  }

  @Test
  void a_directory_of_another_version_is_refused_and_says_what_to_do() throws Exception {
    start().close();
    Files.writeString(data.resolve("database").resolve("PG_VERSION"), "15\n");

    assertThatThrownBy(this::start)
        .hasMessageContaining("15")
        .hasMessageContaining("docs/operations.md");
  }

  @Test
  void programs_that_cannot_use_the_directory_do_not_replace_those_that_can() throws Exception {
    Path program = data.resolve("postgres").resolve("bin").resolve("postgres");
    Files.createDirectories(program.getParent());
    Files.writeString(program, "of PostgreSQL 15");
    Files.createDirectory(data.resolve("database"));
    Files.writeString(data.resolve("database").resolve("PG_VERSION"), "15\n");

    assertThatThrownBy(() -> EmbeddedPostgres.start(data)).hasMessageContaining("made by 15");

    assertThat(program).hasContent("of PostgreSQL 15");
    assertThat(data.resolve("postgres.new")).doesNotExist();
  }

  @Test
  void one_without_fsync_does_not_start() throws Exception {
    start().close();
    Files.writeString(data.resolve("database").resolve("postgresql.auto.conf"), "fsync = off\n");

    assertThatThrownBy(this::start).hasMessageContaining("fsync is \"off\"");
    assertThat(data.resolve("database").resolve("postmaster.pid")).doesNotExist();
  }

  @Test
  void it_has_nothing_of_the_servers_environment_that_it_does_not_need() throws Exception {
    try (EmbeddedPostgres postgres = start()) {
      assertThat(ask(postgres, "SELECT 1")).isEqualTo("1");
      String pid =
          Files.readAllLines(data.resolve("database").resolve("postmaster.pid")).getFirst();

      assertThat(Files.readString(Path.of("/proc", pid, "environ")).split("\0"))
          .allMatch(each ->
              each.matches(
                  "(?s)(PATH|HOME|TZ|LD_LIBRARY_PATH|LC_ALL|PWD|OLDPWD|SHLVL|_|PG\\w+)=.*"));
    }
  }

  // Unpacking is the subject of one test alone.
  private EmbeddedPostgres start() throws IOException {
    return EmbeddedPostgres.start(TestPrograms.in(data));
  }

  private static void kill(Path data) throws IOException {
    long pid =
        Long.parseLong(
            Files.readAllLines(data.resolve("database").resolve("postmaster.pid")).getFirst());
    ProcessHandle.of(pid).orElseThrow().destroyForcibly();
  }

  private static String mode(Path file) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
  }

  private static String askUntilItAnswers(EmbeddedPostgres postgres, String sql) {
    while (true) {
      try {
        return ask(postgres, sql);
      } catch (SQLException e) {
        Thread.onSpinWait();
      }
    }
  }

  private static String ask(EmbeddedPostgres postgres, String sql) throws SQLException {
    try (Connection connection = connect(postgres, postgres.password());
        Statement statement = connection.createStatement();
        ResultSet answer = statement.executeQuery(sql)) {
      answer.next();
      return answer.getString(1);
    }
  }

  private static void execute(EmbeddedPostgres postgres, String sql) throws SQLException {
    try (Connection connection = connect(postgres, postgres.password());
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private static Connection connect(EmbeddedPostgres postgres, String password)
      throws SQLException {
    return DriverManager.getConnection(postgres.jdbcUrl(), postgres.user(), password);
  }
}
