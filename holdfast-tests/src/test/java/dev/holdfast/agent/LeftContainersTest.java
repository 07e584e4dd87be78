package dev.holdfast.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.api.Json;
import dev.holdfast.executor.ContainerConfig;
import dev.holdfast.executor.FakeEngine;
import dev.holdfast.executor.FakeEngine.Answer;
import dev.holdfast.executor.Processes;
import dev.holdfast.fleet.ProcessId;
import dev.holdfast.job.JobState;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.lease.ClaimRequest;
import dev.holdfast.lease.Lease;
import dev.holdfast.lease.LeaseKey;
import dev.holdfast.lease.LeaseSource;
import dev.holdfast.testkit.Tools;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.node.ObjectNode;

/** An agent that died left a container running, and the engine does not remove it. */
class LeftContainersTest extends AgentRig {

  private final AtomicBoolean isGone = new AtomicBoolean();

  @BeforeEach
  void need() {
    Tools.require("curl");
  }

  @Test
  void a_job_is_lost_only_when_its_container_is_gone() throws Exception {
    UUID id =
        admin
            .enqueue(
                NewJob.of("container", Map.of("image", "localhost/app:1"))
                    .withPolicy(
                        PolicyOverrides.NONE
                            .withMaxAttempts(1)
                            .withLeaseLength(Duration.ofMinutes(30))))
            .id();
    AgentConfig config = withFakeEngine(config("left"));
    LeaseKey key = claimed(worker().leases(), journal(config), "left").key();

    try (FakeEngine engine = engine(key);
        Agent agent = Agent.start(worker(), config)) {
      Processes.await(() -> engine.removals() > 3 || tenant.job(id).state().isFinished());

      assertThat(tenant.job(id).state()).isEqualTo(JobState.RUNNING);
      isGone.set(true);
      assertThat(awaitEnd(id).state()).isEqualTo(JobState.FAILED);
    }
  }

  @Test
  void a_worker_for_other_servers_neither_says_that_it_is_over_nor_takes_another_before()
      throws Exception {
    Path shared = Files.createDirectories(directory.resolve("shared"));
    AgentConfig config = withFakeEngine(config("left"));
    try (DocumentServer server = new DocumentServer()) {
      server.add(payload("one"));
      server.add(payload("two"));
      SimulationServer address = SimulationServer.at(server.url(), Map.of());
      SimulationLeases leases =
          new SimulationLeases(address, SharedStorage.in(shared), Duration.ofMinutes(1));
      Journal journal = new Journal(config.data().resolve("leases"), leases::serverId);
      LeaseKey key = claimed(leases, journal, "left").key();
      int before = server.asked().size();

      try (FakeEngine engine = engine(key);
          SimulationAgent agent = SimulationAgent.start(address, config, shared)) {
        Processes.await(() -> engine.removals() > 3 || server.asked().size() > before);

        assertThat(server.asked()).hasSize(before);
        isGone.set(true);
        Processes.await(() -> server.status("one").equals("failed"));
        Processes.await(() -> !server.status("two").equals("queued"));
      }
    }
  }

  private static Journal journal(AgentConfig config) throws IOException {
    return new Journal(config.data().resolve("leases"), UUID::toString);
  }

  private static Lease claimed(LeaseSource leases, Journal journal, String worker) {
    ClaimRequest request =
        ClaimRequest.of(worker, Set.of(NewJob.DEFAULT_QUEUE), 1).withKinds(Set.of("container"));
    return new JournaledLeases(leases, journal).claim(request).leases().getFirst();
  }

  private FakeEngine engine(LeaseKey key) throws IOException {
    String process = ProcessId.current().orElseThrow().stored();
    String left =
        """
        [{"Id": "0123456789abcdef", "State": "running", "Labels": {
          "dev.holdfast.job": "%s", "dev.holdfast.fence": "%d", "dev.holdfast.process": "%s"}}]
        """
            .formatted(key.jobId(), key.fence(), process.replaceFirst(" \\d+$", " 1"));
    return FakeEngine.open(
        socket(),
        words -> {
          if (words.startsWith("GET /_ping")) {
            return new Answer(200, "OK");
          }
          if (words.startsWith("GET /containers/json")) {
            return new Answer(200, isGone.get() ? "[]" : left);
          }
          return words.startsWith("DELETE")
              ? new Answer(409, "{\"message\":\"removal is already in progress\"}")
              : new Answer(404, "{\"message\":\"no such image\"}");
        });
  }

  private AgentConfig withFakeEngine(AgentConfig config) {
    return config.withExecutors(
        Set.of("container"),
        QUICK
            .withScratch(config.data().resolve("scratch"))
            .withContainers(
                ContainerConfig.DEFAULTS.withSocket(socket()).withImages(Set.of("localhost/*"))));
  }

  private Path socket() {
    return directory.resolve("engine.sock");
  }

  private static ObjectNode payload(String id) {
    ObjectNode json =
        Json.object()
            .put("job_id", id)
            .put("config_path", "configs/demo.yaml")
            .put("image", "localhost/app:1")
            .put("command", "true")
            .put("container_name", "opeva_job_" + id);
    json.putArray("volumes");
    json.putObject("env");
    return json;
  }
}
