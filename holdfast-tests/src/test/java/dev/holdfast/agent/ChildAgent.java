package dev.holdfast.agent;

import dev.holdfast.api.HoldfastClient;
import dev.holdfast.executor.ContainerConfig;
import dev.holdfast.executor.ExecutorConfig;
import dev.holdfast.executor.Processes;
import dev.holdfast.server.TestServer;
import dev.holdfast.server.auth.Role;
import dev.holdfast.tenant.TenantName;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** An agent in a process of its own, which tests can freeze and kill. */
final class ChildAgent implements AutoCloseable {

  private final Process process;
  private final Path log;

  private ChildAgent(Process process, Path log) {
    this.process = process;
    this.log = log;
  }

  static ChildAgent start(TestServer server, TenantName tenant, AgentConfig config)
      throws IOException {
    Files.createDirectories(config.data());
    Path log = Files.createTempFile("holdfast-agent", ".log");
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx96m",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                ChildAgent.class.getName(),
                config.name(),
                config.data().toString(),
                String.join(",", config.executors()),
                config.limits().containers().socket().toString(),
                String.join(",", config.limits().containers().images()),
                String.join(",", config.limits().containers().mounts()),
                config.limits().playbooks().map(Path::toString).orElse("")));
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile());
    builder.environment().put("HOLDFAST_SERVER", "http://127.0.0.1:" + server.port());
    builder.environment().put("HOLDFAST_TENANT", tenant.value());
    builder.environment().put("HOLDFAST_TOKEN", server.token(Role.WORKER, Optional.of(tenant)));
    return new ChildAgent(builder.start(), log);
  }

  Process process() {
    return process;
  }

  void terminate() {
    process.destroy();
  }

  void kill() throws InterruptedException {
    process.destroyForcibly().waitFor();
  }

  void awaitLine(String part) throws Exception {
    Processes.await(() -> Files.readString(log).contains(part));
  }

  @Override
  public void close() {
    process.destroyForcibly();
    try {
      Files.deleteIfExists(log);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public static void main(String[] arguments) throws Exception {
    HoldfastClient client =
        HoldfastClient.at(System.getenv("HOLDFAST_SERVER"))
            .withTenant(new TenantName(System.getenv("HOLDFAST_TENANT")))
            .withToken(System.getenv("HOLDFAST_TOKEN"));
    Path data = Path.of(arguments[1]);
    ExecutorConfig limits =
        AgentRig.QUICK
            .withScratch(data.resolve("scratch"))
            .withContainers(
                new ContainerConfig(
                    Path.of(arguments[3]),
                    Set.of(arguments[4].split(",", -1)),
                    arguments[5].isEmpty() ? List.of() : List.of(arguments[5].split(",", -1)),
                    "none"));
    if (!arguments[6].isEmpty()) {
      limits = limits.withPlaybooks(Path.of(arguments[6]));
    }
    AgentConfig config =
        AgentConfig.defaults(data)
            .withName(arguments[0])
            .withDrainTimeout(Duration.ofSeconds(60))
            .withExecutors(Set.of(arguments[2].split(",", -1)), limits);
    Agent agent = Agent.start(client, config);
    Runtime.getRuntime().addShutdownHook(new Thread(agent::close));
    Thread.currentThread().join();
  }
}
