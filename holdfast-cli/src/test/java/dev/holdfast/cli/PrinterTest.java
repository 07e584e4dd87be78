package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.api.Json;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.node.ObjectNode;

/** Answers are printed without what a terminal would obey. */
class PrinterTest {

  // U+009B begins an escape sequence just as ESC [ does.
  private static final String WORDS = "red \u009b31m \u001b[31m \u007f\u0085 é\ud83d\ude00";

  private static ObjectNode job() {
    ObjectNode job = Json.object().put("name", WORDS);
    job.putObject("result").put("said", WORDS).put(WORDS, 1);
    job.putArray("lines").add(WORDS).add(Json.object().put("line", WORDS));
    job.putArray("tags").add(WORDS);
    job.put("key" + WORDS, 1);
    return job;
  }

  private static String printed(Remote.Output output, ObjectNode answer, List<String> columns) {
    StringWriter out = new StringWriter();
    new Printer(new PrintWriter(out), output).print(answer, columns);
    return out.toString();
  }

  @ParameterizedTest
  @EnumSource
  void no_control_character_of_a_job_reaches_the_terminal(Remote.Output output) {
    ObjectNode jobs = Json.object();
    jobs.putArray("jobs").add(job());

    for (String text :
        List.of(
            printed(output, job(), List.of()),
            printed(output, jobs, List.of("name", "result", "lines", "tags")))) {
      assertThat(text.codePoints().filter(Character::isISOControl))
          .as(text)
          .isNotEmpty()
          .containsOnly((int) '\n');
      assertThat(text).contains("31m").contains("é\ud83d\ude00");
    }
  }

  @Test
  void json_means_the_same_to_programs() {
    String text = printed(Remote.Output.JSON, job(), List.of());

    assertThat(Json.parse("out", text)).isEqualTo(job());
    assertThat(text).contains("\\u009b31m");
  }
}
