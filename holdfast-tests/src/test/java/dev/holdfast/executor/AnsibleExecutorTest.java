package dev.holdfast.executor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Failure;
import dev.holdfast.job.Job;
import dev.holdfast.job.JobState;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.job.TimeLimit;
import dev.holdfast.testkit.Covers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** How playbooks run, and what becomes of their jobs by how they end. */
@Covers("A10")
class AnsibleExecutorTest extends PlaybookRig {

  private static final NodeAddress NOWHERE =
      new NodeAddress(
          "8",
          "127.0.0.1",
          Optional.of(9), // nothing listens there
          Optional.of("nobody"),
          Optional.empty(),
          Optional.of("ssh"));

  @Test
  void a_playbook_runs_on_the_jobs_node_with_its_arguments_and_who_it_runs_for() throws Exception {
    playbook(
        """
        - debug:
            msg: "{{ branch }} {{ nested.list | length }} {{ inventory_hostname }}
              {{ job_id }} {{ attempt }} {{ site_id }} {{ node_id }}"
        - command: stat -c %a {{ lookup('env', 'ANSIBLE_LOCAL_TEMP') | dirname | dirname }}
          register: mode
        """);

    Job job = play(HERE, Map.of("branch", "main", "nested", Map.of("list", List.of(1, 2))));

    assertThat(job.state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(text(job, "exit_code")).isEqualTo("0");
    assertThat(String.join("\n", tenant.jobs().log(job.id())))
        .contains("main 2 7 " + job.id() + " 1 42 7");
  }

  @Test
  void exit_codes_say_what_went_wrong_and_whether_to_try_again() throws Exception {
    playbook("- fail: {msg: no disk}");
    Job failed = play(HERE, Map.of());
    playbook("- ping:");
    Job unreachable = play(NOWHERE, Map.of());
    Files.writeString(playbooks.resolve("play.yml"), "- hosts: all\n  tasks: [{nonsense");
    Job unreadable = play(HERE, Map.of());
    Job missing = play(HERE, Map.of(), "other.yml");

    assertThat(failed.errorCode()).contains("ANSIBLE_HOST_FAILED");
    assertThat(failed.errorMessage().orElseThrow()).contains("no disk");
    assertThat(failed.state()).isEqualTo(JobState.QUEUED);
    assertThat(unreachable.errorCode()).contains("ANSIBLE_HOST_UNREACHABLE");
    assertThat(unreachable.state()).isEqualTo(JobState.QUEUED);
    assertThat(unreadable.errorCode()).contains("ANSIBLE_SYNTAX_ERROR");
    assertThat(unreadable.state()).isEqualTo(JobState.FAILED);
    assertThat(missing.errorCode()).contains("ANSIBLE_PLAYBOOK_NOT_FOUND");
    assertThat(missing.state()).isEqualTo(JobState.FAILED);
  }

  @Test
  void every_exit_code_of_the_table_is_told() {
    Map<Integer, String> codes = new LinkedHashMap<>();
    codes.put(1, "ANSIBLE_PLAY_ERROR queued");
    codes.put(2, "ANSIBLE_HOST_FAILED queued");
    codes.put(5, "ANSIBLE_SYNTAX_ERROR failed");
    codes.put(250, "ANSIBLE_UNEXPECTED_ERROR failed");
    codes.put(99, "ANSIBLE_UNKNOWN_EXIT failed");
    codes.put(137, "ANSIBLE_UNKNOWN_EXIT failed");

    codes.forEach((code, expected) -> {
      Failure failure = AnsibleExecutor.failure(code, "some output").orElseThrow();
      assertThat(failure.code() + (failure.retryable() ? " queued" : " failed"))
          .as("exit code %d", code)
          .isEqualTo(expected);
    });
  }

  @Test
  void the_last_ten_kilobytes_of_the_output_are_the_error_message() throws Exception {
    playbook(
        """
        - command: seq 1 5000
        - debug: {msg: "{{ 'y' * 20000 }}"}
        - fail: {msg: the end}
        """);

    Job job = play(HERE, Map.of());

    assertThat(job.errorMessage().orElseThrow()).hasSizeBetween(9_000, 10_240).contains("the end");
  }

  @Test
  void secrets_reach_the_playbook_and_nobody_who_looks() throws Exception {
    playbook(
        """
        - command: cat /proc/{{ lookup('pipe', 'echo $PPID') }}/cmdline
        - debug: {msg: "{{ API_KEY }} {{ password }}"}
        """);

    Job job =
        run(
            config().withSecrets(Map.of("API_KEY", "sesame-4711")),
            catalog(HERE, "play.yml"),
            NewJob.of(
                "deploy",
                Map.of("password", "tiger-0815", "secrets", List.of("API_KEY", "password"))));

    assertThat(job.state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(String.join("\n", tenant.jobs().log(job.id())) + job.result())
        .contains("***")
        .doesNotContain("sesame-4711", "tiger-0815");
  }

  @Test
  void a_playbook_outside_of_the_directory_does_not_exist() throws Exception {
    Path outside = directory.resolve("outside.yml");
    Files.writeString(outside, "- hosts: all\n");
    Files.createSymbolicLink(playbooks.resolve("link.yml"), outside);

    assertThat(play(HERE, Map.of(), "../outside.yml").errorCode())
        .contains("ANSIBLE_PLAYBOOK_NOT_FOUND");
    assertThat(play(HERE, Map.of(), "link.yml").errorCode()).contains("ANSIBLE_PLAYBOOK_NOT_FOUND");
  }

  @Test
  void a_playbook_that_takes_too_long_is_ended_with_all_that_it_started() throws Exception {
    Path pid = directory.resolve("pid");
    Path temporary = directory.resolve("temporary");
    playbook("- shell: echo $TMPDIR > %s; echo $$ > %s; exec sleep 600".formatted(temporary, pid));

    Job job =
        run(
            config(),
            catalog(HERE, "play.yml"),
            NewJob.of("deploy", Map.of())
                .withPolicy(PolicyOverrides.NONE.withTimeout(TimeLimit.of(Duration.ofSeconds(6)))));

    assertThat(job.errorCode()).contains("JOB_TIMEOUT");
    assertThat(job.state()).isEqualTo(JobState.FAILED);
    assertThat(Processes.isRunning(Processes.pidIn(pid))).isFalse();
    assertThat(temporary).content().startsWith(scratch.toString()); // and so goes with the attempt
  }

  @Test
  void a_job_without_a_node_or_with_one_that_nobody_registered_fails_for_good() throws Exception {
    playbook("- debug: {msg: x}");

    Job job = run(config(), new Fixed("play.yml", Optional.empty(), Map.of()), deploy(Map.of()));

    assertThat(job.state()).isEqualTo(JobState.FAILED);
    assertThat(job.errorCode()).contains("NODE_NOT_FOUND");
  }

  @Test
  void a_server_without_a_directory_of_playbooks_does_not_start_with_ansible() {
    assertThatThrownBy(() -> JobExecutors.open(Set.of("ansible"), ExecutorConfig.DEFAULTS))
        .isInstanceOf(HoldfastException.class)
        .hasMessageContaining("playbooks");
  }
}
