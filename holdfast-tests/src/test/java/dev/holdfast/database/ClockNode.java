package dev.holdfast.database;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.Holdfast;
import dev.holdfast.job.Kind;
import dev.holdfast.rig.Cable;
import dev.holdfast.server.HoldfastServer;
import dev.holdfast.server.ServerConfig;
import dev.holdfast.worker.JobContext;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** A server and a worker in a process of their own, whose clocks are wrong. */
final class ClockNode implements AutoCloseable {

  static final Kind<Integer> SLEEP = Kind.of("sleep", Integer.class);
  static final Kind<Integer> FAIL_ONCE = Kind.of("fail-once", Integer.class);
  static final Path LIBRARY = Path.of("/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1");

  private final String name;
  private final Cable cable;
  private final Process process;
  private final CompletableFuture<Integer> port = new CompletableFuture<>();

  private ClockNode(String name, Cable cable, Process process) {
    this.name = name;
    this.cable = cable;
    this.process = process;
  }

  /**
   * Starts one.
   *
   * @param clock as libfaketime wants it: {@code +3600s}, or {@code +0 x1.1} for one that is fast
   * @param hears each line that the node says
   */
  static ClockNode start(
      String name, String clock, int databasePort, Path directory, Consumer<String> hears)
      throws IOException {
    Cable cable = new Cable(databasePort);
    ProcessBuilder builder =
        new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx128m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-Dlogback.configurationFile=logback-chaos.xml",
            "-cp",
            System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
            ClockNode.class.getName(),
            "jdbc:postgresql://127.0.0.1:%d/postgres?user=postgres".formatted(cable.port()),
            name,
            Files.createDirectories(directory.resolve(name)).toString());
    builder.environment().put("LD_PRELOAD", LIBRARY.toString());
    builder.environment().put("FAKETIME", clock);
    builder.redirectError(directory.resolve(name + ".log").toFile());
    ClockNode node = new ClockNode(name, cable, builder.start());
    Thread.ofPlatform().daemon().start(() -> node.listen(hears));
    return node;
  }

  private void listen(Consumer<String> hears) {
    try (BufferedReader said = process.inputReader()) {
      for (String line = said.readLine(); line != null; line = said.readLine()) {
        if (line.startsWith("port ")) {
          port.complete(Integer.parseInt(line.substring("port ".length())));
        } else {
          hears.accept(line);
        }
      }
    } catch (IOException e) {
      port.completeExceptionally(e);
    }
    port.completeExceptionally(new IOException(name + " ended"));
  }

  String name() {
    return name;
  }

  /** Where its server is, once it is ready. */
  String address() throws Exception {
    return "http://127.0.0.1:" + port.get(5, TimeUnit.MINUTES);
  }

  /** From now on it has no database. */
  void cut() {
    try {
      cable.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() throws InterruptedException {
    process.destroyForcibly().waitFor();
    cut();
  }

  public static void main(String[] arguments) throws Exception {
    String name = arguments[1];
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(arguments[0]);
    config.setMaximumPoolSize(12);
    try (HikariDataSource pool = new HikariDataSource(config);
        HoldfastServer server =
            HoldfastServer.start(
                ServerConfig.defaults(Path.of(arguments[2])).withAddress("127.0.0.1", 0),
                pool,
                Map.of());
        var worker =
            Holdfast.on(pool)
                .worker()
                .configure(defaults -> defaults.withName(name).withQueues("default", name))
                .handle(SLEEP, ClockNode::sleep)
                .handle(
                    FAIL_ONCE,
                    (n, job) -> {
                      if (job.attempt() == 1) {
                        throw new IllegalStateException("as it was told to");
                      }
                    })
                .start()) {
      System.out.println("clock " + name + " " + System.currentTimeMillis());
      System.out.println("port " + server.port().orElseThrow());
      while (System.in.read() >= 0) {
        // Its end is that of whoever started us.
      }
    }
    System.exit(0);
  }

  static void sleep(int millis, JobContext job) throws InterruptedException {
    System.out.println("start " + job.jobId());
    try {
      Thread.sleep(Duration.ofMillis(millis));
    } finally {
      System.out.println("end " + job.jobId());
    }
  }
}
