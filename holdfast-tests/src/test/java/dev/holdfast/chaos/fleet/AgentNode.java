package dev.holdfast.chaos.fleet;

import dev.holdfast.agent.Agent;
import dev.holdfast.agent.AgentConfig;
import dev.holdfast.api.HoldfastClient;
import dev.holdfast.executor.ExecutorConfig;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;

/**
 * An agent that runs commands. Its next life has the same directory, and finds there what this one
 * had begun.
 */
public final class AgentNode {

  private static final Duration GRACE = Duration.ofMillis(200);
  private static final Duration DRAIN_TIMEOUT = Duration.ofSeconds(1);
  private static final Duration TIMEOUT = Duration.ofSeconds(3);
  private static final int CONCURRENCY = 4;

  /** The shortest lease under which commands run with this grace. */
  public static final Duration LEASE = ExecutorConfig.DEFAULTS.withTermGrace(GRACE).shortestLease();

  private AgentNode() {}

  public static void main(String[] args) throws IOException {
    Life life = Life.begin(args);
    life.goOn("ready", start(args[2], Path.of(args[3])));
  }

  static Agent start(String url, Path data) {
    AgentConfig config =
        AgentConfig.defaults(data)
            .withName(data.getFileName().toString())
            .withConcurrency(CONCURRENCY)
            .withDrainTimeout(DRAIN_TIMEOUT)
            .withExecutors(
                Set.of("process"),
                ExecutorConfig.DEFAULTS.withTermGrace(GRACE).withScratch(data.resolve("scratch")));
    return Agent.start(HoldfastClient.at(url).withTimeout(TIMEOUT), config);
  }
}
