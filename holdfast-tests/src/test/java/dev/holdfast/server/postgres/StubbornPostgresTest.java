package dev.holdfast.server.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A server's own database that does not end when it is told to. */
class StubbornPostgresTest {

  @TempDir Path directory;

  @Test
  void one_that_does_not_end_in_good_order_is_ended_at_once_and_nothing_is_lost() throws Exception {
    Path data = TestPrograms.in(directory.resolve("data"));
    EmbeddedPostgres stubborn = EmbeddedPostgres.start(data);
    access(data).execute("CREATE TABLE kept AS SELECT 1 AS value");
    freezeCheckpointer(DataDirectory.of(data).postmaster().orElseThrow());

    stubborn.close(Duration.ofSeconds(1));

    assertThat(EmbeddedPostgres.running(data)).isEmpty();
    try (EmbeddedPostgres unused = EmbeddedPostgres.start(data)) {
      assertThat(access(data).ask("SELECT value FROM kept")).isEqualTo("1");
    }
  }

  private static Access access(Path data) {
    return EmbeddedPostgres.running(data).orElseThrow();
  }

  // Good order ends with a checkpoint, which now never comes.
  private static void freezeCheckpointer(ProcessHandle postmaster) throws Exception {
    ProcessHandle checkpointer =
        postmaster
            .children()
            .filter(StubbornPostgresTest::isCheckpointer)
            .findFirst()
            .orElseThrow();
    Process kill = new ProcessBuilder("kill", "-STOP", String.valueOf(checkpointer.pid())).start();
    assertThat(kill.waitFor()).isZero();
  }

  private static boolean isCheckpointer(ProcessHandle process) {
    try {
      return Files.readString(Path.of("/proc", String.valueOf(process.pid()), "cmdline"))
          .contains("checkpointer");
    } catch (IOException e) {
      return false; // it has ended
    }
  }
}
