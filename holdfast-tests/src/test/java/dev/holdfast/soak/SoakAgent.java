package dev.holdfast.soak;

import dev.holdfast.agent.Agent;
import dev.holdfast.agent.AgentConfig;
import dev.holdfast.api.HoldfastClient;
import dev.holdfast.executor.ContainerConfig;
import dev.holdfast.executor.ExecutorConfig;
import dev.holdfast.testkit.TestPodman;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Set;

/** An agent that runs all that agents can run: commands, calls, containers and playbooks. */
final class SoakAgent {

  private SoakAgent() {}

  public static void main(String[] args) throws IOException {
    Path data = Path.of(args[3]);
    AgentConfig config =
        AgentConfig.defaults(data)
            .withName("soak-agent")
            .withQueues(Set.of(Work.ON_AGENT))
            .withExecutors(
                Set.of("process", "http", "container", "ansible"),
                ExecutorConfig.DEFAULTS
                    .withAllowedHosts(Set.of("127.0.0.1"))
                    .withScratch(data.resolve("scratch"))
                    .withContainers(
                        ContainerConfig.DEFAULTS
                            .withSocket(Path.of(args[1]))
                            .withImages(Set.of(TestPodman.IMAGE))
                            .withNetwork("none"))
                    .withPlaybooks(Path.of(args[2])));
    Standing.goOn(0, Agent.start(HoldfastClient.at(args[0]), config));
  }
}
