package dev.holdfast.worker;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.Holdfast;
import dev.holdfast.job.Kind;
import dev.holdfast.tenant.TenantName;
import dev.holdfast.testkit.TestDatabase;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * A worker in a process of its own, which tests can kill. It says on its output what it does, and
 * ends with whoever started it.
 */
final class ChildWorker implements AutoCloseable {

  static final Kind<Integer> SLEEP = Kind.of("sleep", Integer.class);

  private final Process process;
  private final BufferedReader output;

  private ChildWorker(Process process) {
    this.process = process;
    this.output = process.inputReader(StandardCharsets.UTF_8);
  }

  static ChildWorker start(TenantName tenant, String name, Duration drain) throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx64m",
            "-cp",
            System.getProperty("java.class.path"),
            ChildWorker.class.getName(),
            TestDatabase.shared().jdbcUrl(),
            tenant.value(),
            name);
    builder.environment().put("SHUTDOWN_GRACE_PERIOD_SECONDS", Long.toString(drain.toSeconds()));
    builder.redirectError(ProcessBuilder.Redirect.INHERIT);
    return new ChildWorker(builder.start());
  }

  /** Waits until it says so, by itself or in its log. */
  void await(String words) throws IOException {
    for (String said = output.readLine(); said != null; said = output.readLine()) {
      if (said.contains(words)) {
        return;
      }
    }
    throw new AssertionError("ended without saying: " + words);
  }

  void terminate() {
    process.toHandle().destroy(); // unlike its own destroy, this leaves its output readable
  }

  void kill() throws InterruptedException {
    process.destroyForcibly().waitFor();
  }

  void awaitEnd() throws InterruptedException {
    if (!process.waitFor(60, TimeUnit.SECONDS)) {
      throw new AssertionError("does not end");
    }
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }

  public static void main(String[] arguments) throws Exception {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(arguments[0]);
    config.setMaximumPoolSize(5);
    try (HikariDataSource pool = new HikariDataSource(config)) {
      Worker worker =
          Holdfast.on(pool)
              .worker(new TenantName(arguments[1]))
              .configure(defaults -> defaults.withName(arguments[2]))
              .handle(
                  SLEEP,
                  (seconds, job) -> {
                    System.out.println("runs job " + job.jobId());
                    Thread.sleep(Duration.ofSeconds(seconds));
                  })
              .drainAtExit()
              .start();
      while (System.in.read() >= 0) {
        // Its end is that of whoever started us.
      }
      worker.close();
    }
  }
}
