package dev.holdfast.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.api.Json;
import dev.holdfast.executor.ContainerConfig;
import dev.holdfast.executor.Processes;
import dev.holdfast.lease.ClaimRequest;
import dev.holdfast.testkit.Covers;
import dev.holdfast.testkit.TestPodman;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.node.ObjectNode;

/** A worker as the document on jobs and workers has it, with real containers. */
@Covers("C13")
class SimulationAgentTest {

  @TempDir Path directory;

  private DocumentServer server;
  private Path shared;

  @BeforeEach
  void start() throws Exception {
    TestPodman.shared();
    shared = Files.createDirectories(directory.resolve("shared"));
    Files.createDirectories(shared.resolve("configs"));
    Files.writeString(shared.resolve("configs/demo.yaml"), "steps: 3\n");
    server = new DocumentServer();
  }

  @AfterEach
  void stop() {
    if (server != null) {
      server.close();
    }
  }

  @Test
  void a_job_is_claimed_run_logged_and_reported_finished_with_its_exit_code() throws Exception {
    server.add(payload("1234-5678", "configs/demo.yaml", "cat /data/configs/demo.yaml; echo done"));

    try (SimulationAgent agent = agent()) {
      Processes.await(() -> server.status("1234-5678").equals("finished"));
      Processes.await(() -> server.hosts().containsKey("tiago-gpu"));
    }

    assertThat(server.path("1234-5678"))
        .containsExactly("queued", "dispatched", "running", "finished");
    ObjectNode status = server.all("1234-5678");
    assertThat(status.get("exit_code").intValue()).isZero();
    assertThat(status.get("container_name").stringValue()).isEqualTo("opeva_job_1234-5678");
    assertThat(status.get("container_id").stringValue()).isNotBlank();
    assertThat(shared.resolve("jobs/1234-5678/logs/1234-5678.log"))
        .content()
        .isEqualTo("steps: 3\ndone\n");
    assertThat(server.hosts())
        .hasEntrySatisfying("tiago-gpu", info -> assertThat(info.has("load")).isTrue());
  }

  @Test
  void a_job_that_fails_says_with_which_code_and_why() throws Exception {
    server.add(payload("job-1", "configs/demo.yaml", "echo no disk; exit 3"));
    server.add(payload("job-2", "configs/missing.yaml", "true"));
    server.add(payload("job-3", "../../etc/passwd", "true"));

    try (SimulationAgent agent = agent()) {
      for (String id : Set.of("job-1", "job-2", "job-3")) {
        Processes.await(() -> server.status(id).equals("failed"));
      }
    }

    assertThat(server.all("job-1").get("exit_code").intValue()).isEqualTo(3);
    assertThat(server.all("job-1").get("error").stringValue()).contains("no disk");
    assertThat(server.all("job-2").get("error").stringValue()).contains("configs/missing.yaml");
    assertThat(server.path("job-3")).containsExactly("queued", "dispatched", "failed");
  }

  @Test
  void a_job_that_is_to_be_stopped_is_stopped_and_said_to_be() throws Exception {
    server.add(payload("long", "configs/demo.yaml", "while true; do sleep 0.1; done"));

    try (SimulationAgent agent = agent()) {
      Processes.await(() -> server.status("long").equals("running"));
      server.stop("long");
      Processes.await(() -> server.status("long").equals("stopped"));
    }

    assertThat(server.path("long"))
        .containsExactly("queued", "dispatched", "running", "stop_requested", "stopped");
    assertThat(TestPodman.shared().containers()).doesNotContain("opeva_job_long");
  }

  @Test
  void a_job_of_an_earlier_life_has_failed_under_the_id_that_the_server_gave_it() throws Exception {
    server.add(payload("1234-5678", "configs/demo.yaml", "true"));
    claimInAnEarlierLife();

    // That one died with the job, and this is its next life.
    try (SimulationAgent agent = agent()) {
      Processes.await(() -> server.status("1234-5678").equals("failed"));
    }

    assertThat(server.path("1234-5678")).containsExactly("queued", "dispatched", "failed");
  }

  // The protocol has no fence: an end is taken for the end of the newest attempt.
  @Test
  void a_job_of_an_earlier_life_that_is_offered_again_is_not_ended_by_its_old_end()
      throws Exception {
    ObjectNode again = payload("again", "configs/demo.yaml", "echo done");
    server.add(again);
    claimInAnEarlierLife();
    server.add(again); // as an operator puts it back
    server.failOnce("again");
    int before = server.asked().size();

    try (SimulationAgent agent = agent()) {
      Processes.await(() -> Set.of("finished", "failed").contains(server.status("again")));
    }

    assertThat(server.path("again")).containsExactly("queued", "dispatched", "running", "finished");
    assertThat(server.asked().stream().skip(before))
        .startsWith("/api/agent/job-status", "/api/agent/job-status", "/api/agent/next-job");
  }

  private void claimInAnEarlierLife() throws IOException {
    SimulationLeases leases =
        new SimulationLeases(
            SimulationServer.at(server.url(), Map.of()),
            SharedStorage.in(shared),
            Duration.ofMinutes(1));
    Journal journal = new Journal(directory.resolve("agent/leases"), leases::serverId);
    ClaimRequest request = ClaimRequest.of("tiago-gpu", Set.of("agents"), 1);
    assertThat(new JournaledLeases(leases, journal).claim(request).leases()).hasSize(1);
  }

  private SimulationAgent agent() {
    AgentConfig config =
        AgentConfig.defaults(directory.resolve("agent")).withName("tiago-gpu").withConcurrency(2);
    return SimulationAgent.start(
        SimulationServer.at(server.url(), Map.of()),
        config
            .withDrainTimeout(Duration.ofSeconds(20))
            .withExecutors(
                Set.of("container"),
                AgentRig.QUICK.withContainers(
                    ContainerConfig.DEFAULTS
                        .withSocket(TestPodman.shared().socket())
                        .withImages(Set.of(TestPodman.IMAGE))
                        .withNetwork("none"))),
        shared);
  }

  // The image has no program of its own, so the command brings it along; words, as documented.
  private ObjectNode payload(String id, String config, String script) throws Exception {
    Path file = shared.resolve(id + ".sh");
    Files.writeString(file, script + "\n");
    ObjectNode json =
        Json.object()
            .put("job_id", id)
            .put("job_name", "Demo-Run1")
            .put("config_path", config)
            .put("preferred_host", "tiago-gpu")
            .put("image", TestPodman.IMAGE)
            .put("command", "sh /data/" + id + ".sh")
            .put("container_name", "opeva_job_" + id);
    json.putArray("volumes")
        .addObject()
        .put("host", shared.toString())
        .put("container", "/data")
        .put("mode", "rw");
    json.putObject("env");
    return json;
  }
}
