package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** Wrong settings stop the start, and are told by name. */
class AgentCommandTest {

  @TempDir Path directory;

  @Test
  void what_is_wrong_is_named_with_what_is_allowed() {
    assertThat(start("--labels", "gpu")).contains("--labels", "gpu", "like zone=eu");
    assertThat(start("--executors", "rockets")).contains("executors", "rockets", "process");
    assertThat(start("--executors", "ansible")).contains("playbooks");
    assertThat(start("--executors", "ansible", "--playbooks", "/no/such/place"))
        .contains("playbooks", "/no/such/place");
    assertThat(start("--concurrency", "0")).contains("concurrency", "0");
    assertThat(start("--container-network", "host")).contains("network", "host", "none");
    assertThat(start("--dialect", "klingon")).contains("--dialect", "klingon", "agents");
    assertThat(start("--dialect", "agents", "--shared-dir", "/no/such/place"))
        .contains("shared-dir", "/no/such/place");
  }

  private String start(String... options) {
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "agent",
                "--server",
                "http://127.0.0.1:9",
                "--data",
                directory.resolve("agent").toString()));
    arguments.addAll(List.of(options));
    StringWriter said = new StringWriter();
    CommandLine main = Main.commandLine().setErr(new PrintWriter(said, true));

    int exit = main.execute(arguments.toArray(String[]::new));

    assertThat(exit).isNotZero();
    return said.toString();
  }
}
