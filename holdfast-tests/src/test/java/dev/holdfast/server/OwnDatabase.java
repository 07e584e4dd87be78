package dev.holdfast.server;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.Holdfast;
import dev.holdfast.api.HoldfastClient;
import dev.holdfast.server.postgres.EmbeddedPostgres;
import dev.holdfast.server.postgres.TestPrograms;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import javax.sql.DataSource;

/** A node with a PostgreSQL of its own, as {@code ./holdfast server} runs it. */
final class OwnDatabase implements AutoCloseable {

  static final int CONNECTIONS = 10;

  private final EmbeddedPostgres postgres;
  private final HikariDataSource pool;
  private final HoldfastServer server;
  private final Path data;

  private OwnDatabase(Path data, EmbeddedPostgres postgres) {
    this.data = data;
    this.postgres = postgres;
    HikariConfig config = new HikariConfig();
    config.setDataSource(postgres.dataSource());
    config.setMaximumPoolSize(CONNECTIONS);
    config.setConnectionTimeout(1_000);
    this.pool = new HikariDataSource(config);
    this.server =
        HoldfastServer.start(
            ServerConfig.defaults(data)
                .withAddress("127.0.0.1", 0)
                .withRoles(Set.of(ServerRole.WEB)),
            pool,
            Map.of());
  }

  static OwnDatabase start(Path data) throws IOException {
    return new OwnDatabase(data, EmbeddedPostgres.start(TestPrograms.in(data)));
  }

  /** Whoever the first token is. */
  HoldfastClient client() throws IOException {
    return HoldfastClient.at("http://127.0.0.1:" + port()).withToken(TestServer.tokenIn(data));
  }

  int port() {
    return server.port().orElseThrow();
  }

  Holdfast holdfast() {
    return Holdfast.on(pool);
  }

  DataSource dataSource() {
    return pool;
  }

  @Override
  public void close() {
    server.close();
    pool.close();
    postgres.close();
  }
}
