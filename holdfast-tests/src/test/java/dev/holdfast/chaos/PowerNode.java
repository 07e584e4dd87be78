package dev.holdfast.chaos;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.chaos.fleet.Jvm;
import dev.holdfast.server.HoldfastServer;
import dev.holdfast.server.ServerConfig;
import dev.holdfast.server.postgres.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.sql.DataSource;

/** A server with its own database, in a process of its own, of which nothing is spared. */
final class PowerNode {

  private final Path data;
  private final Jvm jvm;
  private final int port;

  private PowerNode(Path data, Jvm jvm, int port) {
    this.data = data;
    this.jvm = jvm;
    this.port = port;
  }

  /** Ready when this returns. */
  static PowerNode start(Path data, Path log) throws Exception {
    Jvm jvm = Jvm.Launch.WHOLE.start(PowerNode.class, 256, log, data.toString());
    return new PowerNode(data, jvm, Integer.parseInt(jvm.firstLine().get(2, TimeUnit.MINUTES)));
  }

  String address() {
    return "http://127.0.0.1:" + port;
  }

  String token() throws IOException {
    return Files.readString(data.resolve("admin.token")).strip();
  }

  DataSource database() {
    return EmbeddedPostgres.running(data).orElseThrow().dataSource();
  }

  /** Server, postmaster and all that it started, with one signal that nobody can catch. */
  void cutPower() throws Exception {
    long postmaster =
        Long.parseLong(Files.readAllLines(data.resolve("database/postmaster.pid")).getFirst());
    List<ProcessHandle> all =
        Stream.concat(
                Stream.of(jvm.process().toHandle()),
                ProcessHandle.of(postmaster).stream()
                    .flatMap(root -> Stream.concat(Stream.of(root), root.descendants())))
            .toList();
    List<String> command =
        Stream.concat(Stream.of("kill", "-9"), all.stream().map(each -> String.valueOf(each.pid())))
            .toList();
    new ProcessBuilder(command).redirectErrorStream(true).start().waitFor();
    for (ProcessHandle each : all) {
      each.onExit().get(1, TimeUnit.MINUTES);
    }
  }

  void end() throws InterruptedException {
    jvm.closeInput();
    jvm.process().waitFor();
  }

  public static void main(String[] arguments) throws Exception {
    Path data = Path.of(arguments[0]);
    try (EmbeddedPostgres postgres = EmbeddedPostgres.start(data)) {
      HikariConfig config = new HikariConfig();
      config.setDataSource(postgres.dataSource());
      config.setMaximumPoolSize(20);
      try (HikariDataSource pool = new HikariDataSource(config);
          HoldfastServer server =
              HoldfastServer.start(
                  ServerConfig.defaults(data).withAddress("127.0.0.1", 0), pool, Map.of())) {
        System.out.println(server.port().orElseThrow());
        while (System.in.read() >= 0) {
          // Its end is that of whoever started us.
        }
      }
    }
  }
}
