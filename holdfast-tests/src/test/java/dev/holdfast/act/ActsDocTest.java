package dev.holdfast.act;

import dev.holdfast.Golden;
import dev.holdfast.job.JobAct;
import dev.holdfast.job.JobState;
import java.io.IOException;
import java.nio.file.Path;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ActsDocTest {

  private static final Path DOC = Path.of("../docs/attempts.md");

  @Test
  void the_documented_acts_are_the_table_in_the_code() throws IOException {
    Golden.assertDrawn(DOC, ActsDocTest.class, table());
  }

  private static String table() {
    return Stream.concat(
            Stream.of(
                row("", Stream.of(JobState.values()).map(JobState::stored)),
                row("---", Stream.of(JobState.values()).map(state -> "---"))),
            Stream.of(JobAct.values())
                .map(act ->
                    row(act.stored(), Stream.of(JobState.values()).map(state -> cell(act, state)))))
        .collect(Collectors.joining("\n"));
  }

  private static String row(String name, Stream<String> cells) {
    return "| " + name + " | " + cells.collect(Collectors.joining(" | ")) + " |";
  }

  private static String cell(JobAct act, JobState state) {
    if (act.isAllowed(state, false)) {
      return "✓";
    }
    return act.isAllowed(state, true) ? "*force*" : "";
  }
}
