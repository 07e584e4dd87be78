package dev.holdfast.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.api.Because;
import dev.holdfast.api.HoldfastClient;
import dev.holdfast.api.Json;
import dev.holdfast.chaos.fleet.Freeze;
import dev.holdfast.executor.Processes;
import dev.holdfast.job.Job;
import dev.holdfast.job.JobState;
import dev.holdfast.job.NewJob;
import dev.holdfast.rig.Cable;
import dev.holdfast.server.TestServer;
import dev.holdfast.server.auth.Role;
import dev.holdfast.testkit.Tools;
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
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What an agent runs is dead before anybody else gets the job, however the agent falls silent. The
 * work itself keeps the record: it writes its fence to a file, over and over, and two fences must
 * never take turns. With {@code -Dholdfast.agent.rounds=20} each is done twenty times over.
 */
@Timeout(3_600)
class SilentAgentTest extends AgentRig {

  private static final int NOBODY = 0;
  private static final int ROUNDS = Integer.getInteger("holdfast.agent.rounds", 1);

  // The first attempt goes on for ever, and cares for no TERM; another one ends soon.
  private static final String WORK =
      "trap '' TERM; i=0; while [ $i -lt 20 ] || [ $HOLDFAST_ATTEMPT -lt 2 ]; do"
          + " echo $HOLDFAST_FENCE >> %s/fences; i=$((i + 1)); sleep 0.05; done";

  @Test
  void a_frozen_agents_container_is_dead_before_another_agent_starts_the_job() throws Exception {
    for (int round = 0; round < ROUNDS; round++) {
      freeze(
          withContainers(config("frozen-" + round)),
          withContainers(config("next-" + round)),
          container(WORK.formatted("/work")));
    }
  }

  @Test
  void a_frozen_agents_playbook_is_dead_before_another_agent_starts_the_job() throws Exception {
    for (int round = 0; round < ROUNDS; round++) {
      freeze(
          withPlaybooks(config("frozen-" + round)),
          withPlaybooks(config("next-" + round)),
          playbook());
    }
  }

  @Test
  void a_killed_agents_container_is_dead_before_it_comes_back() throws Exception {
    for (int round = 0; round < ROUNDS; round++) {
      kill(withContainers(config("killed-" + round)), container(WORK.formatted("/work")));
    }
  }

  @Test
  void a_killed_agents_playbook_is_dead_before_it_comes_back() throws Exception {
    for (int round = 0; round < ROUNDS; round++) {
      kill(withPlaybooks(config("killed-" + round)), playbook());
    }
  }

  @Test
  void a_container_of_an_agent_that_is_killed_for_good_is_gone_before_another_starts_the_job()
      throws Exception {
    for (int round = 0; round < ROUNDS; round++) {
      killForGood(
          withContainers(config("gone-" + round)),
          withContainers(config("heir-" + round)),
          container(WORK.formatted("/work")));
    }
  }

  @Test
  void a_playbook_of_an_agent_that_is_killed_for_good_is_gone_before_another_starts_the_job()
      throws Exception {
    for (int round = 0; round < ROUNDS; round++) {
      killForGood(
          withPlaybooks(config("gone-" + round)),
          withPlaybooks(config("heir-" + round)),
          playbook());
    }
  }

  @Test
  void a_container_of_an_agent_that_is_cut_off_is_dead_before_another_starts_the_job()
      throws Exception {
    for (int round = 0; round < ROUNDS; round++) {
      cutOff(
          Loss.by(round),
          withContainers(config("cut-off-" + round)),
          withContainers(config("next-" + round)),
          container(WORK.formatted("/work")));
    }
  }

  @Test
  void a_playbook_of_an_agent_that_is_cut_off_is_dead_before_another_starts_the_job()
      throws Exception {
    for (int round = 0; round < ROUNDS; round++) {
      cutOff(
          Loss.by(round + 1),
          withPlaybooks(config("cut-off-" + round)),
          withPlaybooks(config("next-" + round)),
          playbook());
    }
  }

  /** How an agent loses its server: in turns. */
  private enum Loss {
    SILENT_NETWORK {
      @Override
      void of(Cable cable) {
        cable.unplug();
      }
    },
    NO_SERVER {
      @Override
      void of(Cable cable) {
        cable.leadTo(NOBODY);
        cable.cut();
      }
    };

    abstract void of(Cable cable);

    static Loss by(int number) {
      return values()[number % values().length];
    }
  }

  private void freeze(AgentConfig first, AgentConfig second, NewJob work) throws Exception {
    Files.deleteIfExists(fences());
    UUID id = admin.enqueue(work.withPolicy(SHORT_LEASE)).id();
    try (ChildAgent agent = child(first);
        Worker upkeep = upkeep()) {
      Processes.await(() -> Files.exists(fences()));
      Freeze.of(agent.process(), Duration.ofMinutes(2));

      try (Agent next = Agent.start(worker(), second)) {
        Job job = awaitEnd(id);

        assertThat(job.state()).isEqualTo(JobState.SUCCEEDED);
        assertThat(agent.process().isAlive()).isTrue();
        assertThat(turns()).hasSize(2);
      }
      agent.kill();
    }
    Agent.start(worker(), first).close(); // takes away what the killed one had no time to
  }

  private void kill(AgentConfig config, NewJob work) throws Exception {
    Files.deleteIfExists(fences());
    UUID id =
        admin.enqueue(work.withPolicy(SHORT_LEASE.withLeaseLength(Duration.ofMinutes(10)))).id();
    try (ChildAgent agent = child(config)) {
      Processes.await(() -> Files.exists(fences()));
      agent.kill();
    }
    try (Agent again = Agent.start(worker(), config)) {
      Job job = awaitEnd(id);

      assertThat(job.state()).isEqualTo(JobState.SUCCEEDED);
      assertThat(turns()).hasSize(2);
    }
  }

  // Nobody is left who would end the work but the watchdog, which is no part of the agent's
  // process.
  private void killForGood(AgentConfig first, AgentConfig second, NewJob work) throws Exception {
    Files.deleteIfExists(fences());
    UUID id = admin.enqueue(work.withPolicy(SHORT_LEASE)).id();
    try (ChildAgent agent = child(first)) {
      Processes.await(() -> Files.exists(fences()));
      assertThat(remains().now()).as("what is to end").isNotEmpty();
      agent.kill();
    }
    assertThat(remains().last()).as("what outlives its agent").isEmpty();
    assertThat(tenant.job(id).state()).as("its lease is not over").isEqualTo(JobState.RUNNING);

    try (Agent heir = Agent.start(worker(), second);
        Worker upkeep = upkeep()) {
      Job job = awaitEnd(id);

      assertThat(job.state()).isEqualTo(JobState.SUCCEEDED);
      assertThat(turns()).hasSize(2);
    }
    Agent.start(worker(), first).close(); // takes away the files that the killed one left
  }

  private void cutOff(Loss loss, AgentConfig first, AgentConfig second, NewJob work)
      throws Exception {
    Files.deleteIfExists(fences());
    UUID id = admin.enqueue(work.withPolicy(SHORT_LEASE)).id();
    try (Cable cable = new Cable(TestServer.shared().port());
        Agent agent = Agent.start(worker(cable.url()), first);
        Worker upkeep = upkeep()) {
      Processes.await(() -> Files.exists(fences()));
      loss.of(cable);
      try (Agent next = Agent.start(worker(), second)) {
        Job job = awaitEnd(id);

        assertThat(job.state()).isEqualTo(JobState.SUCCEEDED);
        assertThat(turns()).hasSize(2);
      }

      cable.leadTo(TestServer.shared().port());
      cable.release();
      Files.delete(fences());
      UUID after = admin.enqueue(work.withPolicy(SHORT_LEASE)).id();
      Processes.await(() -> Files.exists(fences())); // it is back at work
      admin.cancel(after, Because.NOTHING);
      awaitEnd(after);
    }
  }

  /** Fences in the order in which they wrote, each once as long as no other did. */
  private List<String> turns() throws IOException {
    List<String> all = Files.readAllLines(fences());
    return IntStream.range(0, all.size())
        .filter(i -> i == 0 || !all.get(i).equals(all.get(i - 1)))
        .mapToObj(all::get)
        .toList();
  }

  private Path fences() {
    return directory.resolve("fences");
  }

  private AgentConfig withPlaybooks(AgentConfig config) {
    return config.withExecutors(
        Set.of("ansible"),
        QUICK
            .withScratch(config.data().resolve("scratch"))
            .withPlaybooks(directory.resolve("playbooks")));
  }

  private NewJob playbook() throws Exception {
    Tools.require("ansible-playbook");
    Path playbooks = Files.createDirectories(directory.resolve("playbooks"));
    Files.writeString(
        playbooks.resolve("work.yml"),
        """
        - hosts: all
          gather_facts: false
          tasks:
            - shell: |
                %s
        """
            .formatted(WORK.formatted(directory)));
    HoldfastClient system = TestServer.shared().client(Role.SYSTEM, tenant.name());
    system.ask(
        "PUT",
        "/nodes/7",
        Map.of(),
        Optional.of(Json.object().put("host", "localhost").put("connection", "local")));
    system.ask(
        "PUT",
        "/kinds/work",
        Map.of(),
        Optional.of(
            Json.object()
                .put("executor", "ansible")
                .put("playbook", "work.yml")
                .put("node_targeted", true)));
    return NewJob.of("work", Map.of()).withResources("node:7");
  }
}
