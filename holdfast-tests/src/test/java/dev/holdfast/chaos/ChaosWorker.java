package dev.holdfast.chaos;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.Holdfast;
import dev.holdfast.worker.Worker;
import java.io.IOException;
import java.time.Duration;

/** A worker process that others kill, freeze and terminate. */
public final class ChaosWorker {

  private static final int CONCURRENCY = 8;
  private static final int CONNECTIONS = 6;
  private static final Duration DRAIN_TIMEOUT = Duration.ofSeconds(1);

  private ChaosWorker() {}

  /** Works until it is terminated, or its standard input ends: whoever started it is gone. */
  public static void main(String[] args) throws IOException {
    String jdbcUrl = args[0];
    String name = args[2];
    LedgerClient ledger = new LedgerClient(Integer.parseInt(args[1]), name);
    ChoreHandler handler = new ChoreHandler(ledger);
    Worker worker =
        Holdfast.on(pool(jdbcUrl))
            .worker()
            .configure(config ->
                config.withName(name).withConcurrency(CONCURRENCY).withDrainTimeout(DRAIN_TIMEOUT))
            .handleWithOutcome(Chore.KIND, handler)
            .listen(handler)
            .build();
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(() -> {
              worker.close();
              ledger.says("bye");
            }));
    worker.start();
    System.out.println("ready");
    while (System.in.read() >= 0) {
      // nothing is ever sent
    }
    Runtime.getRuntime().halt(1);
  }

  private static HikariDataSource pool(String jdbcUrl) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(jdbcUrl);
    config.setMaximumPoolSize(CONNECTIONS);
    config.setMinimumIdle(0);
    return new HikariDataSource(config);
  }
}
