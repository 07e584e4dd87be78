package dev.holdfast.testkit;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;

/** A real PgBouncer in front of a database. Needs the program, as from Debian's package. */
public final class Bouncer implements AutoCloseable {

  private static final Path DEBIANS = Path.of("/usr/sbin/pgbouncer"); // not on every user's PATH

  private final Process process;
  private final int port;

  private Bouncer(Process process, int port) {
    this.process = process;
    this.port = port;
  }

  /**
   * Starts a PgBouncer; it accepts connections when this returns.
   *
   * @param mode the pool mode: transaction or session
   * @param connections the largest number of connections to the database
   */
  public static Bouncer start(Path directory, String jdbcUrl, String mode, int connections)
      throws IOException {
    URI database = URI.create(jdbcUrl.substring("jdbc:".length()));
    int port = freePort();
    Path settings = directory.resolve("pgbouncer.ini");
    Files.writeString(
        settings,
        """
        [databases]
        postgres = host=127.0.0.1 port=%d dbname=postgres user=postgres
        [pgbouncer]
        listen_addr = 127.0.0.1
        listen_port = %d
        unix_socket_dir =
        auth_type = any
        pool_mode = %s
        default_pool_size = %d
        max_client_conn = 500
        ignore_startup_parameters = extra_float_digits
        """
            .formatted(database.getPort(), port, mode, connections));
    // PgBouncer gives up root before it reads its settings.
    Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
    String program = Files.exists(DEBIANS) ? DEBIANS.toString() : "pgbouncer";
    List<String> command = new ArrayList<>(List.of(program, settings.toString()));
    if ("root".equals(System.getProperty("user.name"))) {
      command.addAll(1, List.of("-u", "nobody"));
    }
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve("pgbouncer.log").toFile())
            .start();
    Bouncer bouncer = new Bouncer(process, port);
    while (!answers(port)) {
      if (!process.isAlive()) {
        throw new IllegalStateException(
            "pgbouncer ended: " + Files.readString(directory.resolve("pgbouncer.log")));
      }
      Thread.onSpinWait();
    }
    return bouncer;
  }

  public String jdbcUrl() {
    return "jdbc:postgresql://127.0.0.1:%d/postgres?user=postgres".formatted(port);
  }

  private static boolean answers(int port) {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      return socket.isConnected();
    } catch (IOException e) {
      return false;
    }
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  void end() {
    process.destroy();
  }

  @Override
  public void close() throws InterruptedException {
    end();
    process.waitFor();
  }
}
