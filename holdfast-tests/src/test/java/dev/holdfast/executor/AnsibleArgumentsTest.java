package dev.holdfast.executor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.job.Job;
import dev.holdfast.job.JobState;
import dev.holdfast.testkit.Covers;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Arguments and names are data to a playbook: they run nothing, and lead it nowhere else. */
@Covers("A10")
class AnsibleArgumentsTest extends PlaybookRig {

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

  // A loop evaluates the keys of an object, which cannot be marked as data.
  @Test
  void names_within_arguments_run_no_templates() throws Exception {
    playbook(
        """
        - debug: {msg: "{{ item.key }}"}
          loop: "{{ labels | dict2items }}"
        - set_fact: {first: "{{ labels | list | first }}"}
        - debug: {msg: "{{ first }}"}
        """);

    for (String name : List.of("{{ lookup('pipe', 'id') }}", "{% raw %}", "{# #}", "{", "a}b")) {
      for (Object labels : List.of(Map.of(name, "x"), List.of(Map.of("deep", Map.of(name, 1))))) {
        Job job = play(HERE, Map.of("labels", labels));
        assertThat(job.state()).as(name).isEqualTo(JobState.FAILED);
        assertThat(job.errorCode()).as(name).contains("INVALID_ARGUMENT");
        assertThat(job.errorMessage().orElseThrow()).contains("args is", name, "without { and }");
      }
    }
    Job harmless = play(HERE, Map.of("labels", Map.of("app.kubernetes.io/name (1)", "x")));

    assertThat(harmless.state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(String.join("\n", tenant.jobs().log(harmless.id())))
        .contains("\"app.kubernetes.io/name (1)\"");
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
}
