package dev.holdfast.soak;

import dev.holdfast.executor.ExecutorConfig;
import dev.holdfast.server.AgentSettings;
import dev.holdfast.server.ExecutorSettings;
import dev.holdfast.server.HoldfastServer;
import dev.holdfast.server.ServerConfig;
import dev.holdfast.server.notify.Receivers;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;

/** A server that does all that servers do. */
final class SoakNode {

  private static final int CONNECTIONS = 16;

  private SoakNode() {}

  public static void main(String[] args) throws IOException {
    Path data = Path.of(args[1]);
    ServerConfig config =
        ServerConfig.defaults(data)
            .withAddress("127.0.0.1", 0)
            .withAuth(false)
            // One for all nodes, where the lasting one's files are counted: a node that removes a
            // job's files looks for them here, whichever node wrote them.
            .withAgents(
                new AgentSettings(data.resolveSibling("server").resolve("shared"), List.of()))
            .withReceivers(new Receivers(Set.of("127.0.0.0/8")))
            .withExecutors(
                new ExecutorSettings(
                    Set.of("process"),
                    Set.of("commands"),
                    ExecutorConfig.DEFAULTS.withScratch(data.resolve("scratch"))));
    HoldfastServer server =
        HoldfastServer.start(config, Standing.pool(args[0], CONNECTIONS), System.getenv());
    Standing.goOn(server.port().orElseThrow(), server);
  }
}
