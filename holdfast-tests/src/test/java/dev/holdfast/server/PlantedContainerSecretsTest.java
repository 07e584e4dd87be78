package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.executor.ContainerConfig;
import dev.holdfast.job.JobState;
import dev.holdfast.server.auth.Role;
import dev.holdfast.testkit.TestPodman;
import dev.holdfast.testkit.Tools;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** What {@link PlantedSecretsTest} looks for, planted in a container and a playbook. */
class PlantedContainerSecretsTest extends SecretsRig {

  @Test
  void no_secret_of_a_container_or_a_playbook_is_told_anywhere() throws Exception {
    Tools.require("ansible-playbook");
    TestPodman podman = TestPodman.shared();
    Path playbooks = Files.createDirectory(scratch.resolve("playbooks"));
    ShellBarrier barrier = ShellBarrier.in(scratch);
    Files.writeString(
        playbooks.resolve("deploy.yml"),
        """
        - hosts: all
          gather_facts: false
          tasks:
            - debug: {msg: "{{ CONFIGURED_0 }} {{ password }}"}
            - shell: %s
        """
            .formatted(barrier.command("{{ job_id }}")));
    Map<String, Object> container = new LinkedHashMap<>();
    container.put("image", TestPodman.IMAGE);
    container.put("pull", "never");
    container.put(
        "command",
        List.of("sh", "-c", "env; echo \"$OWN\" \"$CONFIGURED_1\" >&2; " + barrier.command()));
    String own = search.plant("variable of a container");
    container.put("env", Map.of("OWN", own));
    container.put("secrets", List.of("OWN", "CONFIGURED_1"));
    container.put(
        "volumes",
        List.of(
            Map.of("host", barrier.directory().toString(), "container", barrier.directory() + "")));
    Map<String, Object> play = new LinkedHashMap<>();
    play.put("password", search.plant("argument of a playbook"));
    play.put("secrets", List.of("CONFIGURED_0", "password"));
    List<UUID> ids = List.of(enqueue("container", container), enqueue("deploy", play));
    Map<String, String> configured = configured();
    owners.put(own, ids.getFirst());
    owners.put(Objects.requireNonNull(configured.get("CONFIGURED_1")), ids.getFirst());

    runTogether(
        Set.of("container", "ansible"),
        config(configured)
            .withPlaybooks(playbooks)
            .withContainers(
                ContainerConfig.DEFAULTS
                    .withSocket(podman.socket())
                    .withImages(Set.of(TestPodman.IMAGE))
                    .withMounts(List.of(barrier.directory().toString()))
                    .withNetwork("none")),
        barrier,
        ids.size(),
        ids);

    assertThat(ids.stream().map(id -> tenant.job(id).state()))
        .as(String.join("\n", tenant.jobs().log(ids.getLast())))
        .containsOnly(JobState.SUCCEEDED);
    everyAnswer(server.as(Role.ADMIN, tenant.name()), ids);
    search.lookAtDatabase();
    temporaryFiles();
    search.lookAtLog();
    assertThat(search.found()).isEmpty();
    for (UUID id : ids) {
      assertThat(String.join("\n", tenant.jobs().log(id)))
          .as("it did say something")
          .contains("***");
    }
  }
}
