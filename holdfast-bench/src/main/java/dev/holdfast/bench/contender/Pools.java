package dev.holdfast.bench.contender;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;

/** Connection pools, the same for all contenders. */
final class Pools {

  /** Enough for sixteen producers and a worker. */
  static final int CONNECTIONS = 22;

  private Pools() {}

  static HikariDataSource open(String jdbcUrl, int connections) {
    // All connections are there before anything is measured.
    System.setProperty("com.zaxxer.hikari.blockUntilFilled", "true");
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(jdbcUrl);
    config.setMaximumPoolSize(connections);
    config.setInitializationFailTimeout(10_000);
    return new HikariDataSource(config);
  }
}
