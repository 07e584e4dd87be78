package dev.holdfast.bench.measure;

import dev.holdfast.testkit.PostgresCluster;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** The PostgreSQL that all contenders are measured on, and one connection to ask it things. */
public final class Server implements AutoCloseable {

  /** Durable as in production. Everything not named here is the server's default. */
  static final Map<String, String> SETTINGS =
      new TreeMap<>(
          Map.of(
              "fsync", "on",
              "synchronous_commit", "on",
              "full_page_writes", "on",
              "shared_buffers", "1GB",
              "max_wal_size", "4GB",
              "max_connections", "100"));

  private final String jdbcUrl;
  private final Connection connection;
  private final Closeable process;

  private Server(String jdbcUrl, Connection connection, Closeable process) {
    this.jdbcUrl = jdbcUrl;
    this.connection = connection;
    this.process = process;
  }

  /** A fresh one, from the given directory of server programs or else the embedded one. */
  public static Server start(Optional<Path> binaries) {
    try {
      return binaries.isPresent()
          ? connect(PostgresCluster.start(binaries.get(), SETTINGS).jdbcUrl(), () -> {})
          : startEmbedded();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** One that runs already; closing this does not stop it. */
  public static Server at(String jdbcUrl) {
    return connect(jdbcUrl, () -> {});
  }

  private static Server startEmbedded() throws IOException {
    EmbeddedPostgres.Builder builder = EmbeddedPostgres.builder();
    SETTINGS.forEach(builder::setServerConfig);
    EmbeddedPostgres postgres = builder.start();
    return connect(postgres.getJdbcUrl("postgres", "postgres"), postgres);
  }

  private static Server connect(String jdbcUrl, Closeable process) {
    try {
      Server server = new Server(jdbcUrl, DriverManager.getConnection(jdbcUrl), process);
      server.refuseIfNotDurable();
      return server;
    } catch (SQLException e) {
      throw new IllegalStateException("cannot connect to the database", e);
    }
  }

  private void refuseIfNotDurable() {
    SETTINGS.forEach((name, wanted) -> {
      String actual = ask("SHOW " + name);
      if (!actual.equals(wanted)) {
        throw new IllegalStateException(name + " is " + actual + ", not " + wanted);
      }
    });
  }

  public String jdbcUrl() {
    return jdbcUrl;
  }

  public String version() {
    return ask("SHOW server_version");
  }

  public String settings() {
    return SETTINGS.toString();
  }

  /** The CPU time of all its processes, those that ended included. */
  long cpuNanos() {
    return ServerProcesses.cpuNanos(postmasterPid());
  }

  private long postmasterPid() {
    return Long.parseLong(
        ask("SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1)").strip());
  }

  public void execute(String sql) {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    } catch (SQLException e) {
      throw new IllegalStateException(sql, e);
    }
  }

  public long askNumber(String sql) {
    return Long.parseLong(ask(sql));
  }

  public String ask(String sql) {
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      rows.next();
      return rows.getString(1);
    } catch (SQLException e) {
      throw new IllegalStateException(sql, e);
    }
  }

  @Override
  public void close() {
    try {
      connection.close();
      process.close();
    } catch (SQLException | IOException e) {
      throw new IllegalStateException("the database did not stop", e);
    }
  }
}
