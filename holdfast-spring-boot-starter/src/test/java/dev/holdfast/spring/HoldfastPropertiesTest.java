package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.worker.WorkerConfig;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

class HoldfastPropertiesTest {

  private static final String METADATA = "META-INF/spring-configuration-metadata.json";

  private final ApplicationContextRunner application =
      new ApplicationContextRunner()
          .withConfiguration(AutoConfigurations.of(HoldfastAutoConfiguration.class));

  @ParameterizedTest
  @CsvSource({
    "holdfast.tenant, No",
    "holdfast.schema, 1st",
    "holdfast.worker.name, ''",
    "holdfast.worker.host, ''",
    "holdfast.worker.queues, ''",
    "holdfast.worker.concurrency, 0",
    "holdfast.worker.poll-interval, 1ms",
    "holdfast.worker.heartbeat-interval, 2h",
    "holdfast.worker.drain-timeout, -1s"
  })
  void a_bad_property_stops_the_start_with_its_name(String property, String value) {
    application
        .withPropertyValues(property + "=" + value)
        .run(
            context -> assertThat(context).getFailure().hasStackTraceContaining(property + " is "));
  }

  @Test
  void a_bad_label_stops_the_start_with_the_propertys_name() {
    application
        .withPropertyValues("holdfast.worker.labels.zone=")
        .run(context ->
            assertThat(context)
                .getFailure()
                .rootCause()
                .hasMessageStartingWith("holdfast.worker.labels is "));
  }

  @Test
  void what_is_not_set_is_as_the_core_has_it() {
    application.run(context ->
        assertThat(context.getBean(HoldfastProperties.class).worker().config())
            .isEqualTo(WorkerConfig.defaults()));
  }

  @Test
  void editors_and_the_guide_know_all_properties() throws Exception {
    String guide =
        Files.readString(Path.of("").toAbsolutePath().resolveSibling("docs/spring-boot.md"));
    List<String> described =
        Pattern.compile("\"name\": \"(holdfast\\.[^\"]+)\"")
            .matcher(Files.readString(Path.of("target/classes", METADATA)))
            .results()
            .map(found -> found.group(1))
            .toList();

    assertThat(described).contains("holdfast.tenant", "holdfast.worker.drain-timeout");
    assertThat(described).allSatisfy(property -> assertThat(guide).contains("`" + property));
  }
}
