package dev.holdfast.cli;

import dev.holdfast.agent.Agent;
import dev.holdfast.agent.AgentConfig;
import dev.holdfast.agent.SimulationAgent;
import dev.holdfast.agent.SimulationServer;
import dev.holdfast.error.HoldfastException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Runs jobs of a server on this machine, until the process is told to end. */
@Command(
    name = "agent",
    description = "Runs jobs of a server on this machine: commands, containers, playbooks.",
    mixinStandardHelpOptions = true,
    showDefaultValues = true)
final class AgentCommand implements Callable<Integer> {

  @Spec private @Nullable CommandSpec spec;
  @Mixin private Connection connection = new Connection();
  @Mixin private Permissions permissions = new Permissions();

  @Option(
      names = "--name",
      defaultValue = "${env:HOLDFAST_AGENT_NAME:-}",
      description = "Who it is, and the host that jobs ask for. Default: this machine's name.",
      showDefaultValue = picocli.CommandLine.Help.Visibility.NEVER)
  private String name = "";

  @Option(
      names = "--labels",
      defaultValue = "${env:HOLDFAST_AGENT_LABELS:-}",
      description = "Jobs that ask for labels run only where all of theirs are.",
      paramLabel = "KEY=VALUE,…")
  private String labels = "";

  @Option(
      names = "--queues",
      defaultValue = "${env:HOLDFAST_AGENT_QUEUES:-default}",
      description = "Whose jobs it runs.",
      paramLabel = "QUEUE,…")
  private String queues = "";

  @Option(
      names = "--concurrency",
      defaultValue = "${env:HOLDFAST_AGENT_CONCURRENCY:-4}",
      description = "Most jobs at once.")
  private int concurrency;

  @Option(
      names = "--executors",
      defaultValue = "${env:HOLDFAST_EXECUTORS:-process,http}",
      description = "What it runs: process, http, container, ansible.",
      paramLabel = "NAME,…")
  private String executors = "";

  @Option(
      names = "--data",
      defaultValue = "${env:HOLDFAST_AGENT_DATA:-holdfast-agent-data}",
      description = "A directory of its own, in which it remembers what it has begun.",
      paramLabel = "DIR")
  private Path data = Path.of("");

  @Option(
      names = "--dialect",
      defaultValue = "${env:HOLDFAST_AGENT_DIALECT:-}",
      description =
          "agents: a worker as the document on jobs and workers has it, for servers that hand out"
              + " jobs at /api/agent/next-job. It runs containers.",
      showDefaultValue = picocli.CommandLine.Help.Visibility.NEVER)
  private String dialect = "";

  @Option(
      names = "--shared-dir",
      defaultValue = "${env:HOLDFAST_SHARED_DIR:-${env:VM_SHARED_DATA:-/opt/opeva_shared_data}}",
      description = "The storage that is shared with the server, for --dialect agents.",
      paramLabel = "DIR")
  private Path sharedDirectory = Path.of("");

  @Override
  public Integer call() throws Exception {
    try (NodeStop stop = NodeStop.ofThisProcess();
        AutoCloseable agent = start()) {
      greet();
      stop.await();
    }
    return 0;
  }

  private AutoCloseable start() {
    return switch (dialect) {
      case "" -> Agent.start(connection.client(), config());
      case "agents" -> {
        String worker = Optional.ofNullable(System.getenv("WORKER_ID")).orElse("");
        AgentConfig config = config();
        yield SimulationAgent.start(
            SimulationServer.at(connection.server(), connection.headers()),
            name.isBlank() && !worker.isBlank() ? config.withName(worker) : config,
            sharedDirectory);
      }
      default -> throw HoldfastException.badConfig("--dialect", dialect, "agents");
    };
  }

  private AgentConfig config() {
    AgentConfig config = AgentConfig.defaults(data);
    return (name.isBlank() ? config : config.withName(name))
        .withLabels(Lists.map("--labels", labels))
        .withQueues(Lists.set(queues))
        .withConcurrency(concurrency)
        .withExecutors(Lists.set(executors), permissions.config(data.resolve("scratch")));
  }

  private void greet() {
    if (spec != null) {
      spec.commandLine().getOut().println("Agent works for " + connection.server());
      spec.commandLine().getOut().flush();
    }
  }
}
