package dev.holdfast.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.api.Fields;
import dev.holdfast.api.Json;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.executor.Processes;
import dev.holdfast.job.Job;
import dev.holdfast.job.JobState;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Placement;
import dev.holdfast.server.ServerConfig;
import dev.holdfast.server.TestServer;
import dev.holdfast.server.auth.Role;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A machine that works for a server. */
class AgentTest extends AgentRig {

  private static final Placement THIRD = new Placement(Optional.of("third"), true, Map.of());

  @Test
  void an_agent_runs_commands_and_their_output_is_in_the_jobs_log() throws Exception {
    UUID id = admin.enqueue(script("echo hello; echo $((40 + 2))")).id();

    try (Agent agent = Agent.start(worker(), config("one"))) {
      Job job = awaitEnd(id);

      assertThat(job.state()).isEqualTo(JobState.SUCCEEDED);
      assertThat(tenant.jobs().log(id)).containsExactly("hello", "42");
    }
  }

  @Test
  void an_agent_is_listed_with_its_load_its_memory_its_version_and_what_it_does() throws Exception {
    Path go = directory.resolve("go");
    UUID id = admin.enqueue(script("until [[ -e go ]]; do sleep 0.05; done")).id();

    try (Agent agent = Agent.start(worker(), config("listed").withLabels(Map.of("zone", "eu")))) {
      awaitRunning(id);
      Processes.await(() ->
          info("listed").flatMap(info -> info.optionalInt("active_jobs")).equals(Optional.of(1)));

      Fields info = info("listed").orElseThrow();
      assertThat(info.optionalDouble("load")).isPresent();
      assertThat(info.number("memory_available_mb")).isPositive();
      assertThat(info.text("version")).isNotBlank();
      Files.createFile(go);
      awaitEnd(id);
    }
  }

  private Optional<Fields> info(String name) {
    return Fields.of("answer", admin.ask("GET", "/workers", Map.of(), Optional.empty()))
        .objects("workers")
        .stream()
        .filter(worker -> worker.text("name").equals(name))
        .findFirst()
        .flatMap(worker -> worker.optionalObject("info"));
  }

  @Test
  void fifty_jobs_land_on_the_agents_whose_labels_and_names_they_ask_for() throws Exception {
    List<UUID> anywhere = new ArrayList<>();
    List<UUID> withGpu = new ArrayList<>();
    List<UUID> onThird = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      switch (i % 3) {
        case 0 -> anywhere.add(admin.enqueue(script("true")).id());
        case 1 -> withGpu.add(admin.enqueue(script("true").withLabels(Map.of("gpu", "yes"))).id());
        default -> onThird.add(admin.enqueue(script("true").withPlacement(THIRD)).id());
      }
    }

    try (Agent first = Agent.start(worker(), config("first").withConcurrency(3));
        Agent second = Agent.start(worker(), config("second").withLabels(Map.of("gpu", "yes")));
        Agent third = Agent.start(worker(), config("third"))) {
      for (UUID id : Stream.of(anywhere, withGpu, onThird).flatMap(List::stream).toList()) {
        assertThat(awaitEnd(id).state()).isEqualTo(JobState.SUCCEEDED);
      }
    }

    assertThat(withGpu).allSatisfy(id -> assertThat(workerOf(id)).isEqualTo("second"));
    assertThat(onThird).allSatisfy(id -> assertThat(workerOf(id)).isEqualTo("third"));
  }

  private String workerOf(UUID id) {
    return tenant.jobs().attempts(id).getFirst().worker();
  }

  @Test
  void a_job_sees_neither_the_token_nor_the_environment_of_its_agent() throws Exception {
    UUID id = admin.enqueue(script("env")).id();

    try (ChildAgent agent = child(config("hidden"))) {
      awaitEnd(id);
    }

    assertThat(tenant.jobs().log(id))
        .isNotEmpty()
        .noneMatch(line -> line.contains("TOKEN") || line.contains("HOLDFAST_SERVER"));
  }

  @Test
  void two_agents_cannot_have_one_directory() {
    try (Agent agent = Agent.start(worker(), config("same"))) {
      assertThatThrownBy(() -> Agent.start(worker(), config("same")))
          .isInstanceOf(HoldfastException.class)
          .hasMessageContaining("agent.data");
    }
  }

  @Test
  void an_agent_that_is_told_to_end_lets_running_jobs_finish_and_takes_no_other() throws Exception {
    UUID running =
        admin.enqueue(script("touch begun; until [[ -e go ]]; do sleep 0.05; done")).id();
    try (ChildAgent agent = child(config("drained"))) {
      Processes.await(() -> Files.exists(directory.resolve("begun")));

      agent.terminate();
      agent.awaitLine("draining");
      UUID waiting = admin.enqueue(script("true")).id();
      Files.createFile(directory.resolve("go"));
      agent.process().waitFor();

      assertThat(tenant.job(running).state()).isEqualTo(JobState.SUCCEEDED);
      assertThat(tenant.job(waiting).state()).isEqualTo(JobState.QUEUED);
    }
  }

  @Test
  void a_killed_agents_jobs_are_taken_over_at_once_when_it_comes_back() throws Exception {
    UUID id =
        admin
            .enqueue(
                script("echo $$ >> pids; [[ $HOLDFAST_ATTEMPT -gt 1 ]] || sleep 600")
                    .withPolicy(SHORT_LEASE.withLeaseLength(Duration.ofMinutes(30))))
            .id();
    try (ChildAgent agent = child(config("reborn"))) {
      long pid = Processes.pidIn(directory.resolve("pids"));
      agent.kill();

      try (Agent again = Agent.start(worker(), config("reborn"))) {
        Job job = awaitEnd(id); // long before its lease would have ended

        assertThat(job.state()).isEqualTo(JobState.SUCCEEDED);
        assertThat(Processes.isRunning(pid)).isFalse();
        assertThat(tenant.jobs().attempts(id)).hasSize(2);
      }
    }
  }

  @Test
  void an_end_that_no_server_heard_of_is_told_by_the_next_life() throws Exception {
    ServerConfig config = TestServer.config();
    UUID id;
    try (TestServer server = TestServer.start(config)) {
      id =
          admin
              .enqueue(script("touch begun; until [[ -e go ]]; do sleep 0.05; done; echo done"))
              .id();
      try (ChildAgent agent = ChildAgent.start(server, tenant.name(), config("unheard"))) {
        Processes.await(() -> Files.exists(directory.resolve("begun")));
        server.close();
        Files.createFile(directory.resolve("go"));
        Path journal = config("unheard").data().resolve("leases");
        Processes.await(() -> contains(journal, "succeeded"));

        agent.kill();
      }
    }

    assertThat(tenant.job(id).state()).isEqualTo(JobState.RUNNING);
    try (Agent again = Agent.start(worker(), config("unheard"))) {
      Job job = awaitEnd(id);

      assertThat(job.state()).isEqualTo(JobState.SUCCEEDED);
      assertThat(tenant.jobs().attempts(id)).hasSize(1);
    }
  }

  private static boolean contains(Path directory, String word) throws Exception {
    try (Stream<Path> files = Files.list(directory)) {
      for (Path file : files.filter(each -> each.toString().endsWith(".json")).toList()) {
        if (Files.readString(file).contains(word)) {
          return true;
        }
      }
      return false;
    }
  }

  @Test
  void a_registered_kind_is_run_by_an_agent_that_has_its_executor() throws Exception {
    TestServer.shared()
        .client(Role.SYSTEM, tenant.name())
        .ask(
            "PUT", "/kinds/greet", Map.of(), Optional.of(Json.object().put("executor", "process")));
    UUID id =
        tenant.jobs().enqueue(NewJob.of("greet", Map.of("argv", List.of("echo", "welcome")))).id();

    try (Agent agent = Agent.start(worker(), config("kinds"))) {
      assertThat(awaitEnd(id).state()).isEqualTo(JobState.SUCCEEDED);
      assertThat(tenant.jobs().log(id)).containsExactly("welcome");
    }
  }
}
