package dev.holdfast.soak;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.executor.ExecutorConfig;
import dev.holdfast.server.ExecutorSettings;
import dev.holdfast.server.HoldfastServer;
import dev.holdfast.server.ServerConfig;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Set;

/** A server that does all that servers do. It says at which port it is. */
final class SoakNode {

  private static final int CONNECTIONS = 16;

  private SoakNode() {}

  public static void main(String[] args) throws IOException {
    Path data = Path.of(args[1]);
    HikariConfig pool = new HikariConfig();
    pool.setJdbcUrl(args[0]);
    pool.setMaximumPoolSize(CONNECTIONS);
    ServerConfig config =
        ServerConfig.defaults(data)
            .withAddress("127.0.0.1", 0)
            .withAuth(false)
            .withExecutors(
                new ExecutorSettings(
                    Set.of("process"),
                    Set.of("commands"),
                    ExecutorConfig.DEFAULTS.withScratch(data.resolve("scratch"))));
    HoldfastServer server =
        HoldfastServer.start(config, new HikariDataSource(pool), System.getenv());
    Runtime.getRuntime().addShutdownHook(new Thread(server::close));
    System.out.println(server.port().orElseThrow());
    while (System.in.read() >= 0) {
      // Its end is that of whoever started us.
    }
    Runtime.getRuntime().halt(1);
  }
}
