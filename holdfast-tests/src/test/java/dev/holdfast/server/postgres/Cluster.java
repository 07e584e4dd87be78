package dev.holdfast.server.postgres;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
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
    return start(directory, Binaries.in(directory, any -> {}));
  }

  /**
   * The same of another server's programs: those that come with us cannot rewind, for one.
   *
   * @param programs the directory with {@code bin} in it
   */
  public static Cluster start(Path directory, Path programs) throws IOException {
    Cluster cluster = new Cluster(new Commands(programs), directory.resolve("primary"), "");
    cluster.commands.run(
        "initdb",
        "--pgdata=" + cluster.data(),
        "--username=postgres",
        "--auth=trust",
        "--encoding=UTF8",
        "--locale=C",
        "--data-checksums", // or it cannot be rewound
        "--no-sync");
    // Into its file, because pg_rewind starts it, too, and it must not throw away what that needs.
    Files.writeString(
        cluster.data().resolve("postgresql.conf"),
        "wal_keep_size = 1GB\n",
        StandardOpenOption.APPEND);
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
        Files.copy(file, copy, StandardCopyOption.COPY_ATTRIBUTES);
      }
    }
  }

  /** Accepts connections when this returns. */
  public void start() {
    commands.run(
        "pg_ctl",
        "start",
        "--pgdata=" + data(),
        "--log=" + home.resolveSibling(home.getFileName() + ".log"),
        "--wait",
        "--options=-c port="
            + port
            + " -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off"
            + " -c max_connections=100 -c shared_buffers=64MB"
            + options);
  }

  /**
   * Ends it.
   *
   * @param mode as {@code pg_ctl} calls it: smart, fast, immediate
   */
  public void stop(String mode) {
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

  /** All its processes stand still: nobody is refused, and nobody is answered. */
  public void freeze() throws IOException, InterruptedException {
    long postmaster = postmaster();
    signal("-STOP", Stream.of(postmaster)); // first, so that there will be no more of them
    signal("-STOP", children(postmaster));
  }

  /** They go on. */
  public void thaw() throws IOException, InterruptedException {
    long postmaster = postmaster();
    signal("-CONT", Stream.concat(children(postmaster), Stream.of(postmaster)));
  }

  private long postmaster() throws IOException {
    return Long.parseLong(Files.readAllLines(data().resolve("postmaster.pid")).getFirst());
  }

  private static Stream<Long> children(long pid) {
    return ProcessHandle.of(pid).stream()
        .flatMap(ProcessHandle::descendants)
        .map(ProcessHandle::pid);
  }

  private static void signal(String signal, Stream<Long> pids)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("kill", signal));
    pids.map(String::valueOf).forEach(command::add);
    // A connection may have ended by itself meanwhile, and its process with it.
    new ProcessBuilder(command).redirectErrorStream(true).start().waitFor();
  }

  /** Was the primary, was stopped, and from now on follows the one that took its place. */
  public void follow(Cluster primary) throws IOException, SQLException {
    primary.execute("CHECKPOINT"); // without one since its promotion it looks as before that
    commands.run(
        "pg_rewind",
        "--target-pgdata=" + data(),
        "--source-server=host=127.0.0.1 port=%d user=postgres dbname=postgres"
            .formatted(primary.port),
        "--no-sync");
    options = " -c primary_conninfo='host=127.0.0.1 port=%d user=postgres'".formatted(primary.port);
    Files.createFile(data().resolve("standby.signal"));
    start();
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
