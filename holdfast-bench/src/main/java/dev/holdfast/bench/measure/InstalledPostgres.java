package dev.holdfast.bench.measure;

import java.io.Closeable;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** A fresh cluster in a temporary directory, from the programs of an installed PostgreSQL. */
final class InstalledPostgres implements Closeable {

  private final Path binaries;
  private final Path directory;
  private final int port;

  private InstalledPostgres(Path binaries, Path directory, int port) {
    this.binaries = binaries;
    this.directory = directory;
    this.port = port;
  }

  static InstalledPostgres start(Path binaries) throws IOException {
    Path directory = Files.createTempDirectory("holdfast-bench");
    InstalledPostgres postgres = new InstalledPostgres(binaries, directory, freePort());
    postgres.start();
    return postgres;
  }

  String jdbcUrl() {
    return "jdbc:postgresql://127.0.0.1:" + port + "/postgres?user=postgres";
  }

  private void start() throws IOException {
    if (isRoot()) {
      run(List.of("chown", "postgres", directory.toString()));
    }
    run(asServerUser("initdb", "-D", data(), "-U", "postgres", "-A", "trust", "-E", "UTF8"));
    Thread stopper = new Thread(this::stopQuietly);
    Runtime.getRuntime().addShutdownHook(stopper);
    String options =
        "-p "
            + port
            + " -c listen_addresses=127.0.0.1 -c unix_socket_directories= "
            + Server.SETTINGS.entrySet().stream()
                .map(setting -> "-c " + setting.getKey() + "=" + setting.getValue())
                .collect(Collectors.joining(" "));
    String log = directory.resolve("log").toString();
    run(asServerUser("pg_ctl", "-D", data(), "-l", log, "-o", options, "-w", "start"));
  }

  /** The shutdown hook does it, so that an interrupted run stops its server, too. */
  @Override
  public void close() {}

  private void stopQuietly() {
    try {
      run(asServerUser("pg_ctl", "-D", data(), "-m", "immediate", "-w", "stop"));
      run(List.of("rm", "-rf", directory.toString()));
    } catch (IOException | IllegalStateException e) {
      System.err.println("Could not stop the database in " + directory + ": " + e);
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
    Path output = Files.createTempFile("holdfast-bench", ".out");
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
