package dev.holdfast.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testkit.TestPodman;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** What is left of jobs is found, however it was started. */
class RemainsTest {

  private final String job = UUID.randomUUID().toString();

  @Test
  void a_process_that_has_the_job_in_its_environment_is_found_until_it_ends() throws Exception {
    Remains remains = new Remains(Set.of(job), Optional.empty());
    ProcessBuilder builder = new ProcessBuilder("setsid", "sh", "-c", "echo up; read _");
    builder.environment().put("HOLDFAST_JOB_ID", job);
    Process process = builder.start();
    try {
      // A process has no environment while it becomes another program: wait until it is that one.
      assertThat(process.inputReader().readLine()).isEqualTo("up");

      assertThat(remains.now()).singleElement().asString().contains("echo up");
      assertThat(new Remains(Set.of(UUID.randomUUID().toString()), Optional.empty()).now())
          .isEmpty();
    } finally {
      process.destroyForcibly().waitFor();
    }
    assertThat(remains.last()).isEmpty();
  }

  @Test
  void a_container_that_is_labelled_with_the_job_is_found_whether_it_runs_or_not() {
    TestPodman podman = TestPodman.shared();
    Remains remains = new Remains(Set.of(job), Optional.of(podman));
    String name = "remains-" + job;
    podman.output(
        "create",
        "--name",
        name,
        "--network",
        "none",
        "--label",
        "dev.holdfast.job=" + job,
        TestPodman.IMAGE,
        "sh",
        "-c",
        "true");
    try {
      assertThat(remains)
          .satisfies(all -> assertThat(all.now()).singleElement().asString().contains(name));
    } finally {
      podman.output("rm", "--force", name);
    }
    assertThat(remains).satisfies(all -> assertThat(all.last()).isEmpty());
  }
}
