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
import dev.holdfast.testkit.Tools;
import dev.holdfast.worker.JobContext;
import dev.holdfast.worker.Worker;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Real playbooks, by the real ansible-playbook, on this machine. */
@Covers("A10")
class AnsibleExecutorTest extends ExecutorTest {

  private static final NodeAddress HERE =
      new NodeAddress(
          "7",
          "localhost",
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.of("local"));

  private static final NodeAddress NOWHERE =
      new NodeAddress(
          "8",
          "127.0.0.1",
          Optional.of(9), // nothing listens there
          Optional.of("nobody"),
          Optional.empty(),
          Optional.of("ssh"));

  @TempDir Path directory;

  private Path playbooks;
  private Path scratch;

  @BeforeEach
  void need() throws IOException {
    Tools.require("ansible-playbook");
    playbooks = Files.createDirectory(directory.resolve("playbooks"));
    scratch = directory.resolve("scratch");
  }

  @AfterEach
  void nothing_is_left() throws IOException {
    if (Files.exists(scratch)) {
      try (Stream<Path> left = Files.list(scratch)) {
        assertThat(left).isEmpty();
      }
    }
  }

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
  void arguments_cannot_say_how_a_node_is_reached_nor_run_templates() throws Exception {
    playbook("- debug: {msg: \"{{ title }} {{ list[0] }}\"}");
    String template = "{{ lookup('pipe', 'echo pwn' + 'ed') }}";

    Job refused = play(HERE, Map.of("ansible_connection", "ssh"));
    Job shown = play(HERE, Map.of("title", template, "list", List.of(template)));

    assertThat(refused.state()).isEqualTo(JobState.FAILED);
    assertThat(refused.errorMessage().orElseThrow()).contains("ansible_");
    assertThat(shown.state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(String.join("\n", tenant.jobs().log(shown.id())))
        .contains("lookup('pipe'")
        .doesNotContain("pwned");
  }

  // Two harmless halves that a playbook puts together and keeps become a template only then.
  @Test
  void halves_of_a_template_do_not_become_one() throws Exception {
    playbook(
        """
        - set_fact: {both: "{{ left }}{{ right }}"}
        - debug: {msg: "{{ both }}"}
        """);

    Job shown = play(HERE, Map.of("left", "{", "right", "{ lookup('pipe', 'echo pwn' + 'ed') }}"));

    assertThat(String.join("\n", tenant.jobs().log(shown.id()))).doesNotContain("pwned");
  }

  @Test
  void arguments_are_data_to_ansible_whatever_they_are_called() throws Exception {
    playbook("- debug: {msg: \"{{ deep }}\"}");

    for (String name : List.of("__ansible_vault", "__ansible_unsafe", "__ansible_type")) {
      Job job = play(HERE, Map.of("deep", List.of(Map.of(name, "$ANSIBLE_VAULT;1.1;AES256"))));
      assertThat(job.errorCode()).as(name).contains("INVALID_ARGUMENT");
      assertThat(job.errorMessage().orElseThrow()).contains(name);
    }
    for (String name : List.of("ANSIBLE_HOST", "ansible_ssh_common_args", "Ansible_Connection")) {
      assertThat(play(HERE, Map.of(name, "x")).errorCode()).contains("INVALID_ARGUMENT");
    }
  }

  // The ssh plugin reads a variable of the first name, and calls the host that it has.
  @Test
  void arguments_cannot_lead_a_playbook_to_another_host_by_a_name_that_is_no_name()
      throws Exception {
    playbook("- debug: {msg: \"{{ item }} at {{ inventory_hostname }}\"}\n  loop: [good]");

    for (String name :
        List.of(
            "delegated_vars['ansible_host']",
            "delegated_vars['ansible_ssh_host']",
            "a.b",
            "a b",
            "x[0]",
            "1st",
            "",
            "_ansible_loop_cache", // what every loop is over
            "inventory_hostname", // where a playbook believes that it is
            "group_names",
            "role_path")) {
      Job job = play(HERE, Map.of(name, List.of("evil")));
      assertThat(job.errorCode()).as(name).contains("INVALID_ARGUMENT");
      assertThat(job.state()).as(name).isEqualTo(JobState.FAILED);
    }
  }

  // Those of Ansible's own names that are not refused, because it says them last.
  @Test
  void arguments_of_special_names_do_not_reach_a_playbook() throws Exception {
    List<String> special =
        List.of("groups", "hostvars", "omit", "play_hosts", "playbook_dir", "role_names", "vars");
    playbook(
        special.stream()
            .map(name ->
                "- debug: {msg: \"{{ 'taken' if %s is string and %s == 'evil' else 'kept' }}\"}\n"
                    .formatted(name, name))
            .collect(Collectors.joining()));
    Map<String, Object> args = new LinkedHashMap<>();
    special.forEach(name -> args.put(name, "evil"));

    Job job = play(HERE, args);

    assertThat(job.state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(String.join("\n", tenant.jobs().log(job.id())))
        .contains("kept")
        .doesNotContain("taken");
  }

  @Test
  void a_nodes_names_are_words_of_an_inventory_and_no_options_or_patterns() throws Exception {
    playbook("- debug: {msg: \"at {{ inventory_hostname }} to {{ ansible_host }}\"}");
    NodeAddress strange =
        new NodeAddress(
            "--list-hosts *,all:!x\n[evil] {{ 7 * 7 }}",
            "{{ lookup('pipe', 'echo pwn' + 'ed') }} -oProxyCommand=x",
            Optional.empty(),
            Optional.of("{{ 7 * 7 }}"),
            Optional.empty(),
            Optional.of("local"));

    Job job = play(strange, Map.of());

    assertThat(String.join("\n", tenant.jobs().log(job.id())))
        .contains("at --list-hosts___all__x__evil_____7___7___")
        .doesNotContain("pwned", "49");
    assertThat(job.state()).isEqualTo(JobState.SUCCEEDED);
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

  private void playbook(String tasks) throws IOException {
    Files.writeString(
        playbooks.resolve("play.yml"),
        "- hosts: all\n  gather_facts: false\n  tasks:\n" + tasks.stripTrailing().indent(4));
  }

  private Job play(NodeAddress node, Map<String, Object> args) {
    return play(node, args, "play.yml");
  }

  private Job play(NodeAddress node, Map<String, Object> args, String playbook) {
    return run(config(), catalog(node, playbook), deploy(args));
  }

  private static NewJob deploy(Map<String, Object> args) {
    return NewJob.of("deploy", args);
  }

  private ExecutorConfig config() {
    return ExecutorConfig.DEFAULTS.withPlaybooks(playbooks).withScratch(scratch);
  }

  private static KindCatalog catalog(NodeAddress node, String playbook) {
    return new Fixed(playbook, Optional.of(node), Map.of("site_id", "42", "node_id", node.id()));
  }

  /** One kind, and one node. */
  private record Fixed(String playbook, Optional<NodeAddress> node, Map<String, String> ids)
      implements KindCatalog {
    @Override
    public Set<String> kinds(Set<String> executors) {
      return Set.of("deploy");
    }

    @Override
    public Map<String, String> executors(String tenant) {
      return Map.of("deploy", "ansible");
    }

    @Override
    public Runbook runbook(JobContext job) {
      return new Runbook(Optional.of(playbook), node, ids);
    }
  }

  private Job run(ExecutorConfig config, KindCatalog catalog, NewJob job) {
    UUID id = enqueue(job);
    try (JobExecutors executors = JobExecutors.open(Set.of("ansible"), config);
        Worker worker = executors.installOn(tenant.worker(), catalog).build()) {
      worker.runDue();
    }
    return tenant.job(id);
  }
}
