package dev.holdfast.executor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.executor.FakeEngine.Answer;
import dev.holdfast.hold.ResourceState.Holder;
import dev.holdfast.job.Job;
import dev.holdfast.job.JobState;
import dev.holdfast.job.NewJob;
import dev.holdfast.testkit.Tools;
import dev.holdfast.worker.Worker;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What an engine answers that cannot do what it is asked. */
class EngineTroubleTest extends ExecutorTest {

  private static final NewJob RUN =
      NewJob.of("container", Map.of("image", "localhost/app:1")).withResources("site:1");

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

  @Test
  void a_job_is_not_over_while_the_engine_does_not_say_that_its_container_is_gone()
      throws Exception {
    UUID id = enqueue(RUN);
    UUID next = enqueue(RUN);
    AtomicReference<State> state = new AtomicReference<>(State.THERE);
    try (FakeEngine engine = engine(words -> running(words, state));
        JobExecutors executors = open();
        Worker worker = executors.installOn(tenant.worker()).start()) {
      Processes.await(() -> state.get() == State.AWAY);

      tenant.acts().cancel(id, ADA);
      Processes.await(() -> engine.removals() > 3 || tenant.job(id).state().isFinished());

      assertThat(tenant.job(id).state()).isEqualTo(JobState.STOPPING);
      assertThat(holders()).containsExactly(id);
      assertThat(tenant.job(next).state()).isEqualTo(JobState.QUEUED);
      tenant.acts().cancel(next, ADA);
      state.set(State.GONE);
      Processes.await(() -> tenant.job(id).state().isFinished());
      assertThat(tenant.job(id).state()).isEqualTo(JobState.CANCELLED);
      assertThat(holders()).isEmpty();
    }
  }

  @Test
  void a_worker_that_closes_leaves_the_lease_of_a_container_that_may_run_on_to_expire()
      throws Exception {
    UUID id = enqueue(RUN);
    AtomicReference<State> state = new AtomicReference<>(State.THERE);
    AtomicReference<Thread> handler = new AtomicReference<>();
    try (FakeEngine engine = engine(words -> running(words, state));
        JobExecutors executors = open()) {
      Worker worker =
          executors
              .installOn(tenant.worker())
              .configure(config -> config.withDrainTimeout(Duration.ZERO))
              .intercept((job, next) -> {
                handler.set(Thread.currentThread());
                return next.proceed();
              })
              .start();
      Processes.await(() -> state.get() == State.AWAY);

      worker.close();

      Processes.await(() -> engine.removals() > 1);
      assertThat(handler.get().isAlive()).isTrue();
      executors.close();
      assertThat(handler.get().join(Duration.ofMinutes(1))).isTrue();
      assertThat(tenant.job(id).state()).isEqualTo(JobState.RUNNING);
      assertThat(holders()).containsExactly(id);
      state.set(State.GONE); // and so the watchdog's work is over
    }
  }

  @Test
  void output_that_never_ends_is_not_listened_to_when_its_container_has_ended() throws Exception {
    UUID id = enqueue(RUN);
    try (FakeEngine engine = engine(EngineTroubleTest::ended);
        JobExecutors executors = open();
        Worker worker = executors.installOn(tenant.worker()).build()) {
      worker.runDue();

      assertThat(tenant.job(id).state()).isEqualTo(JobState.SUCCEEDED);
      assertThat(engine.asked()).anyMatch(words -> words.contains("/logs"));
      Processes.await(() -> engine.streams() == 0);
    }
  }

  private static Answer ended(String words) {
    if (words.startsWith("POST /containers/create")) {
      return new Answer(201, "{\"Id\":\"0123456789abcdef\"}");
    }
    if (words.contains("/logs")) {
      return Answer.endless();
    }
    if (words.contains("/wait")) {
      return new Answer(200, "{\"StatusCode\":0}");
    }
    return words.startsWith("GET /containers/0123456789abcdef/json")
        ? new Answer(200, "{\"State\":{\"Running\":false,\"Status\":\"exited\",\"ExitCode\":0}}")
        : new Answer(200, "{}");
  }

  private enum State {
    THERE,
    AWAY,
    GONE
  }

  // Runs one container, and is away from its start on.
  private static Answer running(String words, AtomicReference<State> state) {
    if (state.get() == State.AWAY) {
      return new Answer(500, "{\"message\":\"not now\"}");
    }
    if (state.get() == State.GONE) {
      return new Answer(404, "{\"message\":\"no such container\"}");
    }
    if (words.startsWith("POST /containers/create")) {
      return new Answer(201, "{\"Id\":\"0123456789abcdef\"}");
    }
    if (words.endsWith("/start")) {
      state.set(State.AWAY);
      return new Answer(204, "");
    }
    return new Answer(200, "{}");
  }

  private List<UUID> holders() {
    return tenant.resources().get("site:1").holders().stream().map(Holder::jobId).toList();
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
          boolean isNone = answer.status() == 404 || answer.body().equals("{}");
          return isOfNothing && isNone ? new Answer(200, "[]") : answer;
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
        ExecutorConfig.DEFAULTS
            .withTermGrace(Duration.ofMillis(200))
            .withContainers(
                ContainerConfig.DEFAULTS.withSocket(socket()).withImages(Set.of("localhost/*"))));
  }

  private Path socket() {
    return directory.resolve("engine.sock");
  }
}
