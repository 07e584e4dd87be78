package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.server.HoldfastServer;
import dev.holdfast.server.ServerConfig;
import dev.holdfast.server.ServerRole;
import dev.holdfast.server.postgres.EmbeddedPostgres;
import dev.holdfast.testkit.TestDatabase;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An error names what it is about, and what is wrong with it. */
class ExplanationTest {

  @TempDir Path directory;

  @Test
  void a_file_that_may_not_be_used_is_told_with_the_reason() {
    IOException denied = new AccessDeniedException("/srv/holdfast-data");

    assertThat(Explanation.of(new UncheckedIOException("cannot use /srv/holdfast-data", denied)))
        .isEqualTo("cannot use /srv/holdfast-data: permission denied");
    assertThat(Explanation.of(new UncheckedIOException(denied)))
        .isEqualTo("/srv/holdfast-data: permission denied");
    assertThat(Explanation.of(new IOException("cannot restore", new NoSuchFileException("a/b"))))
        .isEqualTo("cannot restore: a/b: no such file or directory");
  }

  @Test
  void our_own_errors_speak_for_themselves_and_none_is_silent() {
    HoldfastException own = HoldfastException.badConfig("--port", -1, "0 to 65535");

    assertThat(Explanation.of(new IllegalStateException("did not start", own)))
        .isEqualTo(own.getMessage());
    assertThat(Explanation.of(new IllegalStateException("no way"))).isEqualTo("no way");
    assertThat(Explanation.of(new IllegalStateException())).contains("IllegalStateException");
  }

  @Test
  void errors_that_cause_each_other_are_told() {
    IllegalStateException circle = new IllegalStateException("closing failed");
    circle.initCause(new IOException("reading failed", circle));

    assertThat(Explanation.of(circle)).isEqualTo("closing failed: reading failed");
  }

  @Test
  void a_data_directory_that_cannot_be_one_is_named() throws IOException {
    Path file = Files.createFile(directory.resolve("file"));

    Throwable error = catchThrowable(() -> EmbeddedPostgres.start(file.resolve("data")).close());

    assertThat(Explanation.of(error))
        .contains("data directory " + file.resolve("data"))
        .containsIgnoringCase("not a directory");
  }

  @Test
  void a_port_that_is_taken_is_named() throws IOException {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      ServerConfig config =
          ServerConfig.defaults(directory)
              .withAddress("127.0.0.1", taken.getLocalPort())
              .withRoles(Set.of(ServerRole.WEB))
              .withUpkeep(false);

      Throwable error =
          catchThrowable(() ->
              HoldfastServer.start(config, TestDatabase.shared().dataSource(), Map.of()).close());

      assertThat(Explanation.of(error))
          .contains(String.valueOf(taken.getLocalPort()))
          .contains("already in use");
    }
  }
}
