package dev.holdfast.executor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.executor.FakeEngine.Answer;
import dev.holdfast.job.Job;
import dev.holdfast.job.NewJob;
import dev.holdfast.testkit.Tools;
import dev.holdfast.worker.Worker;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What an engine answers that cannot do what it is asked. */
class EngineTroubleTest extends ExecutorTest {

  @TempDir Path directory;

  @BeforeEach
  void need() {
    Tools.require("curl");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"errorDetail\":{\"message\":\"toomanyrequests\"},\"error\":\"toomanyrequests\"}",
        "{\"error\":\"toomanyrequests\"}"
      })
  void a_pull_that_goes_wrong_after_it_began_has_failed(String trouble) throws IOException {
    UUID id = enqueue(NewJob.of("container", Map.of("image", "localhost/app:1")));
    try (FakeEngine engine =
            engine(words ->
                words.startsWith("POST /images/create")
                    ? new Answer(200, "{\"status\":\"Pulling from app\"}\n" + trouble + "\n")
                    : new Answer(404, "{\"message\":\"No such image\"}"));
        JobExecutors executors = open();
        Worker worker = executors.installOn(tenant.worker()).build()) {
      worker.runDue();

      Job job = tenant.job(id);
      assertThat(job.errorCode()).contains("IMAGE_PULL_FAILED");
      assertThat(job.errorMessage().orElseThrow()).contains("toomanyrequests");
      assertThat(engine.asked()).noneMatch(words -> words.contains("/containers/create"));
    }
  }

  // Docker says so of one that a watchdog is removing at this moment.
  @Test
  void what_cannot_be_removed_does_not_keep_a_worker_from_starting() throws IOException {
    try (FakeEngine engine =
        engine(words ->
            words.startsWith("DELETE")
                ? new Answer(409, "{\"message\":\"removal is already in progress\"}")
                : new Answer(200, "[" + left("a1") + "," + left("b2") + "]"))) {
      open().close();

      assertThat(engine.asked().stream().filter(words -> words.startsWith("DELETE")).toList())
          .satisfiesExactly(
              words -> assertThat(words).contains("/containers/a1"),
              words -> assertThat(words).contains("/containers/b2"));
    }
  }

  private FakeEngine engine(Function<String, Answer> answers) throws IOException {
    return FakeEngine.open(
        socket(),
        words -> {
          if (words.startsWith("GET /_ping")) {
            return new Answer(200, "OK");
          }
          boolean isOfNothing = words.startsWith("GET /containers/json");
          Answer answer = answers.apply(words);
          return isOfNothing && answer.status() == 404 ? new Answer(200, "[]") : answer;
        });
  }

  private static String left(String id) {
    return """
    {"Id": "%s", "State": "exited", "Labels": {
      "dev.holdfast.job": "x", "dev.holdfast.process": "a-boot-that-was pid:[1] 1 1"}}
    """
        .formatted(id);
  }

  private JobExecutors open() {
    return JobExecutors.open(
        Set.of("container"),
        ExecutorConfig.DEFAULTS.withContainers(
            ContainerConfig.DEFAULTS.withSocket(socket()).withImages(Set.of("localhost/*"))));
  }

  private Path socket() {
    return directory.resolve("engine.sock");
  }
}
