package dev.holdfast.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.api.HoldfastClient;
import dev.holdfast.executor.ContainerConfig;
import dev.holdfast.executor.ExecutorConfig;
import dev.holdfast.executor.Processes;
import dev.holdfast.job.Job;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Kind;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.job.RetryPolicy;
import dev.holdfast.server.TestServer;
import dev.holdfast.server.auth.Role;
import dev.holdfast.testkit.TestPodman;
import dev.holdfast.testkit.TestTenant;
import dev.holdfast.worker.Worker;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Agents for a tenant of the shared server, and what they must not leave behind. */
abstract class AgentRig {

  static final ExecutorConfig QUICK = ExecutorConfig.DEFAULTS.withTermGrace(Duration.ofMillis(200));

  /** The shortest that is accepted with this grace. */
  static final Duration LEASE = Duration.ofSeconds(16);

  static final PolicyOverrides SHORT_LEASE =
      PolicyOverrides.NONE
          .withLeaseLength(LEASE)
          .withRetry(new RetryPolicy.Delays(List.of(Duration.ZERO)));

  @RegisterExtension final TestTenant tenant = new TestTenant();

  @TempDir Path directory;

  HoldfastClient admin;

  private boolean usesContainers;

  @BeforeEach
  void connect() {
    admin = TestServer.shared().client(Role.ADMIN, tenant.name());
  }

  @AfterEach
  void nothing_is_left_and_all_is_sound() throws Exception {
    assertThat(tenant.invariants().check()).isEmpty();
    assertThat(remains().last()).as("what still runs for jobs").isEmpty();
    for (Path scratch : scratches()) {
      try (Stream<Path> left = Files.list(scratch)) {
        assertThat(left).as("files of attempts").isEmpty();
      }
    }
  }

  /** What there is of this tenant's jobs on this machine. */
  Remains remains() {
    Set<String> jobs =
        tenant.query("SELECT id FROM {schema}.job_all").stream()
            .map(row -> String.valueOf(row.get("id")))
            .collect(Collectors.toSet());
    return new Remains(jobs, usesContainers ? Optional.of(TestPodman.shared()) : Optional.empty());
  }

  private List<Path> scratches() throws IOException {
    try (Stream<Path> all = Files.walk(directory, 3)) {
      return all.filter(path -> path.endsWith("scratch")).toList();
    }
  }

  HoldfastClient worker() {
    return TestServer.shared().client(Role.WORKER, tenant.name());
  }

  /** By way of another address. */
  HoldfastClient worker(String url) {
    return TestServer.shared().client(Role.WORKER, tenant.name(), url);
  }

  ChildAgent child(AgentConfig config) throws IOException {
    return ChildAgent.start(TestServer.shared(), tenant.name(), config);
  }

  AgentConfig config(String name) {
    Path data = directory.resolve("agents").resolve(name);
    return AgentConfig.defaults(data)
        .withName(name)
        .withDrainTimeout(Duration.ofSeconds(20))
        .withExecutors(Set.of("process"), QUICK.withScratch(data.resolve("scratch")));
  }

  AgentConfig withContainers(AgentConfig config) {
    usesContainers = true;
    return config.withExecutors(
        Set.of("container"),
        QUICK
            .withScratch(config.data().resolve("scratch"))
            .withContainers(
                ContainerConfig.DEFAULTS
                    .withSocket(TestPodman.shared().socket())
                    .withImages(Set.of(TestPodman.IMAGE))
                    .withMounts(List.of(directory.toString()))
                    .withNetwork("none")));
  }

  NewJob script(String script) {
    return NewJob.of(
        "process", Map.of("argv", List.of("bash", "-c", script), "cwd", directory.toString()));
  }

  NewJob container(String script) {
    return NewJob.of(
        "container",
        Map.of(
            "image",
            TestPodman.IMAGE,
            "command",
            List.of("sh", "-c", script),
            "pull",
            "never",
            "volumes",
            List.of(Map.of("host", directory.toString(), "container", "/work"))));
  }

  Job awaitEnd(UUID id) throws Exception {
    Processes.await(() -> tenant.job(id).state().isFinished());
    return tenant.job(id);
  }

  void awaitRunning(UUID id) throws Exception {
    Processes.await(() -> tenant.job(id).state() == JobState.RUNNING);
  }

  /** Looks after silent workers' jobs of this tenant alone, as every worker does. */
  Worker upkeep() {
    return tenant.worker().handle(Kind.of("nothing", Object.class), (args, job) -> {}).start();
  }
}
