package dev.holdfast.job;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Golden;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class LifecycleDocTest {

  private static final Path DOC = Path.of("../docs/lifecycle.md");

  @Test
  void the_documented_diagram_is_the_table_in_the_code() throws IOException {
    Golden.assertDrawn(DOC, LifecycleDocTest.class, diagram());
  }

  @ParameterizedTest
  @EnumSource
  void every_state_is_explained(JobState state) throws IOException {
    assertThat(Files.readString(DOC)).contains("\n| `" + state.stored() + "` | ");
  }

  private static String diagram() {
    return """
    ```mermaid
    stateDiagram-v2
      direction LR
      [*] --> pending
      [*] --> queued
    %s
    ```
    """
        .formatted(
            Stream.of(JobState.values())
                .flatMap(state -> state.next().stream().map(next -> arrow(state, next)))
                .collect(Collectors.joining("\n")));
  }

  private static String arrow(JobState from, JobState to) {
    return "  " + from.stored() + " --> " + to.stored();
  }
}
