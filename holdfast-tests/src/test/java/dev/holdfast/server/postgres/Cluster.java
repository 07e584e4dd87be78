package dev.holdfast.server.postgres;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.stream.Stream;

/**
 * A PostgreSQL that a test may restart, break, copy and promote, from the programs that the server
 * brings. Lets everybody in, and forgets at a power cut.
 */
public final class Cluster implements AutoCloseable {

  private final Commands commands;
  private final Path home;
  private final int port;
  private String options;

  private Cluster(Commands commands, Path home, String options) throws IOException {
    this.commands = commands;
    this.home = home;
    this.port = freePort();
    this.options = options;
  }

  /** Makes one and starts it. */
  public static Cluster start(Path directory) throws IOException {
    Cluster cluster =
        new Cluster(new Commands(Binaries.in(directory)), directory.resolve("primary"), "");
    cluster.commands.run(
        "initdb",
        "--pgdata=" + cluster.data(),
        "--username=postgres",
        "--auth=trust",
        "--encoding=UTF8",
        "--locale=C",
        "--no-sync");
    cluster.start();
    return cluster;
  }

  /** A copy of this one, which is stopped for it and started again, that follows it. */
  public Cluster standby(Path directory) throws IOException {
    stop("fast");
    Cluster copy =
        new Cluster(
            commands,
            directory,
            " -c primary_conninfo='host=127.0.0.1 port=%d user=postgres'".formatted(port));
    copyAll(home, directory);
    Files.createFile(copy.data().resolve("standby.signal"));
    start();
    copy.start();
    return copy;
  }

  private static void copyAll(Path from, Path to) throws IOException {
    try (Stream<Path> files = Files.walk(from)) {
      for (Path file : files.toList()) {
        Path copy = to.resolve(from.relativize(file));
        Files.copy(file, copy, java.nio.file.StandardCopyOption.COPY_ATTRIBUTES);
      }
    }
  }

  private void start() {
    commands.run(
        "pg_ctl",
        "start",
        "--pgdata=" + data(),
        "--log=" + home.resolveSibling(home.getFileName() + ".log"),
        "--wait",
        "--options=-c port="
            + port
            + " -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off"
            + " -c max_connections=100 -c shared_buffers=64MB -c wal_keep_size=1GB"
            + options);
  }

  private void stop(String mode) {
    commands.run("pg_ctl", "stop", "--pgdata=" + data(), "--mode=" + mode, "--wait");
  }

  /** As after a crash: everybody is cut off, and it comes back. */
  public void restart() {
    stop("immediate");
    start();
  }

  /** Gone for good. */
  public void crash() {
    stop("immediate");
  }

  private Path data() {
    return home.resolve("data");
  }

  public int port() {
    return port;
  }

  public String jdbcUrl() {
    return "jdbc:postgresql://127.0.0.1:%d/postgres?user=postgres".formatted(port);
  }

  public void execute(String sql) throws SQLException {
    try (Connection connection = DriverManager.getConnection(jdbcUrl());
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  public String ask(String sql) throws SQLException {
    try (Connection connection = DriverManager.getConnection(jdbcUrl());
        Statement statement = connection.createStatement();
        ResultSet answer = statement.executeQuery(sql)) {
      return answer.next() ? answer.getString(1) : "";
    }
  }

  @Override
  public void close() {
    if (Files.exists(data().resolve("postmaster.pid"))) {
      stop("immediate");
    }
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }
}
