package dev.holdfast.chaos.fleet;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.Holdfast;
import dev.holdfast.chaos.load.Chore;
import dev.holdfast.chaos.load.ChoreHandler;
import dev.holdfast.worker.Worker;
import dev.holdfast.worker.WorkerBuilder;
import java.io.IOException;
import java.time.Duration;

/** A worker process straight on the database, which others kill, freeze and terminate. */
public final class DatabaseWorker {

  private static final int CONCURRENCY = 8;
  private static final int CONNECTIONS = 6;
  private static final Duration DRAIN_TIMEOUT = Duration.ofSeconds(1);

  private DatabaseWorker() {}

  public static void main(String[] args) throws IOException {
    Life life = Life.begin(args);
    life.goOn("ready", start(life, args[2]));
  }

  static Worker start(Life life, String jdbcUrl) {
    Holdfast holdfast = Holdfast.on(pool(jdbcUrl, CONNECTIONS));
    return Life.started(() -> chores(holdfast.worker(), life).start());
  }

  /** Wherever its leases come from. */
  static WorkerBuilder chores(WorkerBuilder builder, Life life) {
    ChoreHandler handler = new ChoreHandler(life.ledger());
    return builder
        .configure(config ->
            config
                .withName(life.name())
                .withConcurrency(CONCURRENCY)
                .withDrainTimeout(DRAIN_TIMEOUT))
        .handleWithOutcome(Chore.KIND, handler)
        .listen(handler);
  }

  static HikariDataSource pool(String jdbcUrl, int connections) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(jdbcUrl);
    config.setMaximumPoolSize(connections);
    config.setMinimumIdle(0);
    // It may be made while the nemesis cuts.
    config.setInitializationFailTimeout(-1);
    config.setTransactionIsolation("TRANSACTION_READ_COMMITTED");
    return new HikariDataSource(config);
  }
}
