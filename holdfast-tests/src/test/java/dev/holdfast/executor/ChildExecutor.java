package dev.holdfast.executor;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.Holdfast;
import dev.holdfast.tenant.TenantName;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.worker.Worker;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;

/** A worker for commands in a process of its own, which tests can freeze and kill. */
final class ChildExecutor implements AutoCloseable {

  private static final ExecutorConfig CONFIG =
      ExecutorConfig.DEFAULTS.withTermGrace(Duration.ofMillis(200));

  /** The shortest that is accepted with this grace. */
  static final Duration LEASE = Duration.ofSeconds(11);

  private final Process process;

  private ChildExecutor(Process process) {
    this.process = process;
  }

  static ChildExecutor start(TenantName tenant) throws IOException {
    return new ChildExecutor(
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx64m",
                "-cp",
                System.getProperty("java.class.path"),
                ChildExecutor.class.getName(),
                TestDatabase.shared().jdbcUrl(),
                tenant.value())
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start());
  }

  Process process() {
    return process;
  }

  void kill() throws InterruptedException {
    process.destroyForcibly().waitFor();
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }

  public static void main(String[] arguments) throws Exception {
    HikariConfig pool = new HikariConfig();
    pool.setJdbcUrl(arguments[0]);
    pool.setMaximumPoolSize(5);
    try (HikariDataSource database = new HikariDataSource(pool);
        JobExecutors executors = ExecutorTest.open(CONFIG);
        Worker worker =
            executors
                .installOn(Holdfast.on(database).worker(new TenantName(arguments[1])))
                .start()) {
      while (System.in.read() >= 0) {
        // Its end is that of whoever started us.
      }
    }
  }
}
