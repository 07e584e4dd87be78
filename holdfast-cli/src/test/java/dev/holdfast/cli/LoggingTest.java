package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.api.Json;
import dev.holdfast.error.HoldfastException;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import org.junit.jupiter.api.Test;
import org.slf4j.MDC;
import tools.jackson.databind.JsonNode;

/** A line says which job it is about, to people and to programs. */
class LoggingTest {

  private static LogRecord record(String message) {
    LogRecord said = new LogRecord(Level.WARNING, message);
    said.setLoggerName("dev.holdfast.worker.Runner");
    return said;
  }

  @Test
  void programs_get_an_object_a_line_with_the_job_tenant_attempt_and_trace() {
    LogRecord said = record("it\nfails \u001b[31m");
    said.setThrown(new IllegalStateException("boom"));
    String text;
    try (MDC.MDCCloseable job = MDC.putCloseable("job", "j-1");
        MDC.MDCCloseable tenant = MDC.putCloseable("tenant", "default");
        MDC.MDCCloseable attempt = MDC.putCloseable("attempt", "2");
        MDC.MDCCloseable trace = MDC.putCloseable("trace", "abc")) {
      text = new JsonLines().format(said);
    }

    assertThat(text).endsWith("}\n");
    assertThat(text.strip().lines()).hasSize(1);
    JsonNode line = Json.parse("line", text);
    assertThat(line.path("level").asString()).isEqualTo("WARN");
    assertThat(line.path("message").asString()).startsWith("it\nfails");
    assertThat(line.path("job").asString()).isEqualTo("j-1");
    assertThat(line.path("tenant").asString()).isEqualTo("default");
    assertThat(line.path("attempt").asString()).isEqualTo("2");
    assertThat(line.path("trace").asString()).isEqualTo("abc");
    assertThat(line.path("error").asString()).contains("boom", "LoggingTest");
  }

  @Test
  void people_get_a_sentence_with_what_it_is_about() {
    try (MDC.MDCCloseable job = MDC.putCloseable("job", "j-1")) {
      assertThat(new PlainLines().format(record("it fails")))
          .contains("WARN  Runner - it fails {job=j-1}")
          .endsWith(System.lineSeparator());
    }
    assertThat(new PlainLines().format(record("it fails")).strip()).endsWith("Runner - it fails");
  }

  @Test
  void what_is_no_format_or_level_is_refused_by_the_options_name() {
    assertThatThrownBy(() -> Logging.Format.of("xml"))
        .isInstanceOf(HoldfastException.class)
        .hasMessageContaining("--log-format");
    assertThatThrownBy(() -> Logging.level("loud"))
        .isInstanceOf(HoldfastException.class)
        .hasMessageContaining("--log-level");
  }
}
