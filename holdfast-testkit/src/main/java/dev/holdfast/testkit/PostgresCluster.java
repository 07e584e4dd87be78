package dev.holdfast.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * A private PostgreSQL cluster from the programs of an installed server, in a temporary directory.
 * For testing against versions other than the embedded one.
 */
public final class PostgresCluster {

  private final Path binaries;
  private final Path directory;
  private final int port;

  private PostgresCluster(Path binaries, Path directory, int port) {
    this.binaries = binaries;
    this.directory = directory;
    this.port = port;
  }

  /** Creates and starts a cluster that is stopped and removed when this JVM ends. */
  public static PostgresCluster start(Path binaries, Map<String, String> settings) {
    try {
      Path directory = Files.createTempDirectory("holdfast-postgres");
      PostgresCluster cluster = new PostgresCluster(binaries, directory, freePort());
      cluster.start(settings);
      return cluster;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public String jdbcUrl() {
    return "jdbc:postgresql://127.0.0.1:" + port + "/postgres?user=postgres";
  }

  private void start(Map<String, String> settings) throws IOException {
    if (isRoot()) {
      run(List.of("chown", "postgres", directory.toString()));
    }
    run(asServerUser("initdb", "-D", data(), "-U", "postgres", "-A", "trust", "-E", "UTF8"));
    Runtime.getRuntime().addShutdownHook(new Thread(this::stop));
    StringBuilder options =
        new StringBuilder("-c listen_addresses=127.0.0.1 -c unix_socket_directories= -p ")
            .append(port);
    settings.forEach(
        (name, value) -> options.append(" -c ").append(name).append('=').append(value));
    String log = directory.resolve("log").toString();
    run(asServerUser("pg_ctl", "-D", data(), "-l", log, "-o", options.toString(), "-w", "start"));
  }

  private void stop() {
    try {
      run(asServerUser("pg_ctl", "-D", data(), "-m", "immediate", "-w", "stop"));
      run(List.of("rm", "-rf", directory.toString()));
    } catch (RuntimeException | IOException e) {
      System.err.println("Could not stop the test database in " + directory + ": " + e);
    }
  }

  private String data() {
    return directory.resolve("data").toString();
  }

  // The server refuses to run as root.
  private List<String> asServerUser(String program, String... arguments) {
    List<String> command = new ArrayList<>();
    if (isRoot()) {
      command.addAll(List.of("runuser", "-u", "postgres", "--"));
    }
    command.add(binaries.resolve(program).toString());
    command.addAll(List.of(arguments));
    return command;
  }

  private static boolean isRoot() {
    return "root".equals(System.getProperty("user.name"));
  }

  private static void run(List<String> command) throws IOException {
    Path output = Files.createTempFile("holdfast-postgres", ".out");
    try {
      Process process =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(output.toFile())
              .directory(Path.of("/").toFile())
              .start();
      if (!process.waitFor(60, TimeUnit.SECONDS) || process.exitValue() != 0) {
        throw new IllegalStateException(command + " failed: " + Files.readString(output));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(command + " was interrupted", e);
    } finally {
      Files.delete(output);
    }
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }
}
