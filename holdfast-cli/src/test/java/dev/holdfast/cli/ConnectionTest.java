package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** The token of the server on this machine is for that server. */
class ConnectionTest {

  private static final Path USUAL = Path.of("holdfast-data/admin.token");

  @Command
  private static final class Some {
    @Mixin private final Connection connection = new Connection();
  }

  @BeforeEach
  void nobodyNamedOne() {
    assumeThat(System.getenv("HOLDFAST_TOKEN_FILE")).isNull();
    assumeThat(System.getenv("HOLDFAST_SERVER")).isNull();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "http://127.0.0.1:8080",
        "http://127.3.2.1",
        "http://LOCALHOST:1",
        "https://localhost",
        "http://[::1]:8080"
      })
  void a_server_on_this_machine_is_sent_the_token_that_is_here(String server) {
    assertThat(tokenFile("--server", server)).contains(USUAL);
    assertThat(tokenFile()).contains(USUAL);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "http://192.0.2.1:8080",
        "https://jobs.example.org",
        "http://127.0.0.1.example.org",
        "http://localhost.example.org",
        "http://127.0.0.1@192.0.2.1",
        "http://[2001:db8::1]"
      })
  void any_other_is_not_unless_the_file_is_named(String server) {
    assertThat(tokenFile("--server", server)).isEmpty();
    assertThat(tokenFile("--server", server, "--token-file", USUAL.toString())).contains(USUAL);
    assertThat(tokenFile("--server", server, "--token-file=" + USUAL)).contains(USUAL);
  }

  @Test
  void a_file_that_is_not_named_after_all_is_asked_for() {
    assertThatThrownBy(() -> tokenFile("--token-file"))
        .isInstanceOf(CommandLine.ParameterException.class);
  }

  private static Optional<Path> tokenFile(String... arguments) {
    Some some = new Some();
    var unused = new CommandLine(some).parseArgs(arguments);
    return some.connection.tokenFile();
  }
}
