package dev.holdfast.chaos.fleet;

import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.server.AgentSettings;
import dev.holdfast.server.HoldfastServer;
import dev.holdfast.server.ServerConfig;
import dev.holdfast.server.ServerRole;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** A server. It says at which port it is. */
public final class ServerNode {

  private static final int CONNECTIONS = 12;

  private ServerNode() {}

  public static void main(String[] args) throws IOException {
    Life life = Life.begin(args);
    HoldfastServer server = start(args[2], Path.of(args[3]), Path.of(args[4]));
    life.goOn(String.valueOf(server.port().orElseThrow()), server);
  }

  static HoldfastServer start(String jdbcUrl, Path data, Path shared) {
    HikariDataSource pool = DatabaseWorker.pool(jdbcUrl, CONNECTIONS);
    ServerConfig config =
        ServerConfig.defaults(data)
            .withAddress("127.0.0.1", 0)
            .withAuth(false)
            .withAgents(new AgentSettings(shared, List.of()))
            .withRoles(Set.of(ServerRole.WEB, ServerRole.SCHEDULER));
    return Life.started(() -> HoldfastServer.start(config, pool, Map.of()));
  }
}
