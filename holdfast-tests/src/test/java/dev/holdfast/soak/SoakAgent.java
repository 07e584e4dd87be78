package dev.holdfast.soak;

import dev.holdfast.agent.Agent;
import dev.holdfast.agent.AgentConfig;
import dev.holdfast.api.HoldfastClient;
import dev.holdfast.executor.ExecutorConfig;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Set;

/** An agent that runs commands and makes calls. */
final class SoakAgent {

  private SoakAgent() {}

  public static void main(String[] args) throws IOException {
    Path data = Path.of(args[1]);
    AgentConfig config =
        AgentConfig.defaults(data)
            .withName("soak-agent")
            .withQueues(Set.of(Work.ON_AGENT))
            .withExecutors(
                Set.of("process", "http"),
                ExecutorConfig.DEFAULTS
                    .withAllowedHosts(Set.of("127.0.0.1"))
                    .withScratch(data.resolve("scratch")));
    Standing.goOn(0, Agent.start(HoldfastClient.at(args[0]), config));
  }
}
