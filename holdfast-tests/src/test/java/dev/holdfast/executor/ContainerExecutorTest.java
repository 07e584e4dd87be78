package dev.holdfast.executor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Job;
import dev.holdfast.job.JobState;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.job.TimeLimit;
import dev.holdfast.testkit.TestPodman;
import dev.holdfast.worker.Worker;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Real containers, by a real Podman. */
@Execution(ExecutionMode.SAME_THREAD) // each looks at what the others leave behind
class ContainerExecutorTest extends ExecutorTest {

  private static final String DEAD = "a-boot-that-was pid:[1] 1 1";

  @TempDir Path directory;

  private TestPodman podman;

  @BeforeEach
  void need() {
    podman = TestPodman.shared();
  }

  @AfterEach
  void nothing_is_left() {
    assertThat(ownContainers()).isEmpty();
  }

  private List<String> ownContainers() {
    return podman
        .output("ps", "--all", "--format", "{{.Names}} {{.State}} {{.Labels}}")
        .lines()
        .filter(line -> line.contains("dev.test:" + tenant.name().value()))
        .toList();
  }

  @Test
  void a_container_runs_with_its_arguments_environment_and_volumes_and_its_output_is_logged()
      throws Exception {
    Files.writeString(directory.resolve("input"), "from outside");

    Job job =
        run(
            Map.of(
                "command",
                List.of(
                    "sh",
                    "-c",
                    "cat /work/input; echo; echo $COLOUR $HOLDFAST_ATTEMPT; echo made > /work/made"),
                "env",
                Map.of("COLOUR", "blue"),
                "volumes",
                List.of(Map.of("host", directory.toString(), "container", "/work"))));

    assertThat(job.state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(text(job, "exit_code")).isEqualTo("0");
    assertThat(tenant.jobs().log(job.id())).containsExactly("from outside", "blue 1");
    assertThat(directory.resolve("made")).hasContent("made");
  }

  @Test
  void an_exit_code_is_the_outcome() {
    Job job = run(Map.of("command", List.of("sh", "-c", "echo no disk >&2; exit 3")));

    assertThat(job.state()).isEqualTo(JobState.QUEUED);
    assertThat(job.errorCode()).contains("EXIT_3");
    assertThat(job.errorMessage().orElseThrow()).contains("no disk");
  }

  @Test
  void only_images_and_directories_that_are_allowed_can_be_used() throws IOException {
    Path outside = Files.createDirectory(directory.resolve("outside"));
    Path inside = Files.createDirectory(directory.resolve("inside"));
    Files.createSymbolicLink(inside.resolve("link"), outside);
    Files.createDirectory(inside.resolve("read"));
    ContainerConfig allowed =
        containers().withMounts(List.of(inside + ":ro", inside.resolve("read").toString() + ":ro"));

    assertThat(run(containers(), Map.of("image", "evil:latest")).errorCode())
        .contains("IMAGE_NOT_ALLOWED");
    for (String host :
        List.of("/etc", outside.toString(), inside + "/link", inside + "/../outside")) {
      assertThat(run(allowed, mounting(host, "ro")).errorCode())
          .as(host)
          .contains("MOUNT_NOT_ALLOWED");
    }
    assertThat(run(allowed, mounting(inside.toString(), "rw")).errorCode())
        .contains("MOUNT_NOT_ALLOWED");
    assertThat(run(allowed, mounting(inside.toString(), "ro")).state())
        .isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void a_name_of_an_image_leads_nowhere_but_to_an_image() {
    AllowedImages images = new AllowedImages(Set.of("registry.example.org/team/*"));

    assertThat(images.allow("registry.example.org/team/app:1")).isTrue();
    assertThat(images.allow("registry.example.org/team/app@sha256:00")).isTrue();
    assertThat(
            List.of(
                "registry.example.org/team/../evil/app",
                "registry.example.org/team/..",
                "registry.example.org/team/./app",
                "registry.example.org/team//app",
                "registry.example.org/team/../../../containers/json",
                "registry.example.org/team/app json",
                "registry.example.org/team/app?x=y",
                "registry.example.org/team/app#x",
                "registry.example.org/team/app%2e%2e",
                "registry.example.org/team/app\nx",
                "--privileged",
                "registry.example.org/team/\u0430pp",
                "REGISTRY.example.org/team/app",
                ""))
        .noneMatch(images::allow);
  }

  // An engine takes a mount as one text with colons between its parts.
  @Test
  void a_path_with_a_colon_is_not_mounted() throws IOException {
    Path inside = Files.createDirectories(directory.resolve("a:/etc"));
    AllowedMounts mounts = new AllowedMounts(List.of(directory.toString()));

    assertThat(mounts.find(directory.toString(), false)).isPresent();
    assertThat(mounts.find(inside.toString(), false)).isEmpty();
    for (String container : List.of("/x:ro", "x", "", "/x:/y")) {
      assertThat(
              run(Map.of(
                      "volumes",
                      List.of(Map.of("host", directory.toString(), "container", container))))
                  .errorMessage()
                  .orElseThrow())
          .contains("volumes.container");
    }
    for (String name : List.of("-x", "a b", "a/b", "a\nb", "x".repeat(200), "é")) {
      assertThat(run(Map.of("name", name)).errorMessage().orElseThrow()).contains("name");
    }
    for (String network : List.of("host", "container:x", "ns:/proc/1/ns/net", "")) {
      assertThat(run(Map.of("network", network)).errorMessage().orElseThrow()).contains("network");
    }
  }

  private static Map<String, Object> mounting(String host, String mode) {
    return Map.of(
        "command",
        List.of("ls", "/x"),
        "volumes",
        List.of(Map.of("host", host, "container", "/x", "mode", mode)));
  }

  @Test
  void a_container_has_no_rights_that_were_not_asked_for_and_cannot_ask_for_many() {
    Job refused = run(Map.of("privileged", true));
    Job network = run(Map.of("network", "host"));
    Job rights = run(Map.of("command", List.of("cat", "/proc/self/status")));

    assertThat(refused.errorMessage().orElseThrow()).contains("privileged");
    assertThat(network.errorMessage().orElseThrow()).contains("network");
    assertThat(tenant.jobs().log(rights.id())).contains("NoNewPrivs:\t1");
  }

  @Test
  void an_image_that_is_not_here_is_not_pulled_when_it_must_not_be() {
    Job job =
        run(
            containers().withImages(Set.of("localhost/*")),
            Map.of("image", "localhost/no-such-image:1"));

    assertThat(job.state()).isEqualTo(JobState.FAILED);
    assertThat(job.errorCode()).contains("IMAGE_NOT_FOUND");
  }

  @Test
  void a_name_that_a_dead_attempt_left_taken_is_free_and_anybody_elses_is_not() {
    String own = tenant.name().value().replace('_', '-');
    podman.output(
        "create",
        "--name",
        own + "-a",
        "--label",
        "dev.holdfast.job=x",
        "--label",
        "dev.holdfast.process=" + DEAD,
        TestPodman.IMAGE,
        "sleep",
        "600");
    podman.output("create", "--name", own + "-b", TestPodman.IMAGE, "sleep", "600");

    Job free = run(Map.of("name", own + "-a", "command", List.of("echo", "mine")));
    Job taken = run(Map.of("name", own + "-b", "command", List.of("echo", "mine")));

    assertThat(free.state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(taken.errorCode()).contains("CONTAINER_NAME_TAKEN");
    assertThat(podman.containers()).contains(own + "-b");
    podman.output("rm", "--force", own + "-b");
  }

  @Test
  void what_an_earlier_life_left_is_removed_at_the_start_and_nothing_else() {
    String own = tenant.name().value().replace('_', '-');
    podman.output(
        "create",
        "--name",
        own + "-left",
        "--label",
        "dev.holdfast.job=x",
        "--label",
        "dev.holdfast.process=" + DEAD,
        TestPodman.IMAGE,
        "sleep",
        "600");
    podman.output("create", "--name", own + "-other", TestPodman.IMAGE, "sleep", "600");

    JobExecutors.open(Set.of("container"), config(containers())).close();

    assertThat(podman.containers()).contains(own + "-other").doesNotContain(own + "-left");
    podman.output("rm", "--force", own + "-other");
  }

  @Test
  void a_container_that_is_created_when_its_job_was_just_stopped_is_removed_again()
      throws Exception {
    AtomicReference<Thread> handler = new AtomicReference<>();
    Path socket = directory.resolve("relay.sock");
    UUID id = enqueue(job(Map.of("command", List.of("echo", "never"))));
    try (EngineRelay relay =
            EngineRelay.open(socket, podman.socket(), () -> handler.get().interrupt());
        JobExecutors executors =
            JobExecutors.open(Set.of("container"), config(containers().withSocket(socket)));
        Worker worker =
            executors
                .installOn(tenant.worker())
                .intercept((context, next) -> {
                  handler.set(Thread.currentThread());
                  return next.proceed();
                })
                .build()) {
      worker.runDue();

      assertThat(tenant.jobs().log(id)).isEmpty();
      Processes.await(() -> ownContainers().isEmpty());
    }
  }

  @Test
  void a_container_that_takes_too_long_gets_term_and_then_kill() {
    UUID id =
        enqueue(
            job(Map.of(
                    "command",
                    List.of("sh", "-c", "trap 'echo told' TERM; while true; do sleep 0.1; done")))
                .withPolicy(PolicyOverrides.NONE.withTimeout(TimeLimit.of(Duration.ofSeconds(2)))));

    Job job = runDue(containers(), id);

    assertThat(job.errorCode()).contains("JOB_TIMEOUT");
    assertThat(tenant.jobs().log(id)).contains("told");
  }

  @Test
  void limits_are_set_and_secrets_are_masked() {
    Job job =
        run(
            Map.of(
                "command", List.of("sh", "-c", "echo $KEY; cat /proc/self/cgroup > /dev/null"),
                "env", Map.of("KEY", "sesame-4711"),
                "secrets", List.of("KEY"),
                "memory_mb", 64,
                "pids", 50));

    assertThat(job.state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(tenant.jobs().log(job.id())).containsExactly("***");
  }

  @Test
  void wrong_arguments_are_told_by_name() {
    assertThat(run(Map.of("memory_mb", "much")).errorMessage().orElseThrow()).contains("memory_mb");
    assertThat(run(Map.of("name", "../x")).errorMessage().orElseThrow()).contains("name");
    assertThat(run(Map.of("pull", "often")).errorMessage().orElseThrow()).contains("pull");
    assertThat(run(Map.of("labels", Map.of("dev.holdfast.job", "x"))).errorMessage().orElseThrow())
        .contains("labels");
    assertThat(
            run(Map.of("volumes", List.of(Map.of("host", "relative", "container", "/x"))))
                .errorMessage()
                .orElseThrow())
        .contains("volumes.host");
  }

  @Test
  void a_machine_without_an_engine_does_not_start_with_containers() {
    assertThatThrownBy(() ->
            JobExecutors.open(
                Set.of("container"), config(containers().withSocket(directory.resolve("no.sock")))))
        .isInstanceOf(HoldfastException.class)
        .hasMessageContaining("container-socket");
  }

  private ContainerConfig containers() {
    return ContainerConfig.DEFAULTS
        .withSocket(podman.socket())
        .withImages(Set.of(TestPodman.IMAGE))
        .withMounts(List.of(directory.toString()))
        .withNetwork("none");
  }

  private static ExecutorConfig config(ContainerConfig containers) {
    return ExecutorConfig.DEFAULTS.withTermGrace(Duration.ofMillis(500)).withContainers(containers);
  }

  private Job run(Map<String, Object> args) {
    return run(containers(), args);
  }

  private Job run(ContainerConfig containers, Map<String, Object> args) {
    return runDue(containers, enqueue(job(args)));
  }

  private NewJob job(Map<String, Object> args) {
    Map<String, Object> all = new HashMap<>();
    all.put("image", TestPodman.IMAGE);
    all.put("pull", "never");
    all.put("labels", Map.of("dev.test", tenant.name().value()));
    all.putAll(args);
    return NewJob.of("container", all);
  }

  private Job runDue(ContainerConfig containers, UUID id) {
    try (JobExecutors executors = JobExecutors.open(Set.of("container"), config(containers));
        Worker worker = executors.installOn(tenant.worker()).build()) {
      worker.runDue();
    }
    return tenant.job(id);
  }
}
