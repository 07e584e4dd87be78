package dev.holdfast.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.executor.Processes;
import dev.holdfast.job.Job;
import dev.holdfast.job.JobState;
import dev.holdfast.server.ServerConfig;
import dev.holdfast.server.TestServer;
import dev.holdfast.server.auth.Role;
import dev.holdfast.testkit.TestPodman;
import java.nio.file.Files;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** An agent goes on while its server is away. */
class RestartedServerTest extends AgentRig {

  @Test
  void a_container_that_runs_while_the_server_is_restarted_finishes_once() throws Exception {
    AgentConfig agents = withContainers(config("patient"));
    UUID id =
        admin
            .enqueue(
                container(
                        "echo begun; touch /work/begun; until [ -e /work/go ]; do sleep 0.05; done;"
                            + " echo done")
                    .withPolicy(SHORT_LEASE))
            .id();
    ServerConfig config = TestServer.config();
    try (TestServer before = TestServer.start(config);
        Agent agent = Agent.start(before.client(Role.WORKER, tenant.name()), agents)) {
      int port = before.port();
      Processes.await(() -> Files.exists(directory.resolve("begun")));
      before.close();
      try (TestServer after = TestServer.start(config.withAddress("127.0.0.1", port))) {
        Files.createFile(directory.resolve("go"));
        Job job = awaitEnd(id);

        assertThat(job.state()).isEqualTo(JobState.SUCCEEDED);
        assertThat(tenant.jobs().attempts(id)).hasSize(1);
        assertThat(tenant.jobs().log(id)).contains("begun", "done");
      }
    }
    assertThat(TestPodman.shared().containers()).noneMatch(name -> name.contains(id.toString()));
  }
}
