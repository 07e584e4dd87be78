package dev.holdfast.bench.contender;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;

/** Connection pools, the same for all contenders. */
public final class Pools {

  /** Enough for sixteen producers and a worker. */
  static final int CONNECTIONS = 22;

  private Pools() {}

  public static HikariDataSource open(String jdbcUrl, int connections) {
    return new HikariDataSource(config(jdbcUrl, connections));
  }

  /**
   * For a contender that writes its table names without a schema, and inserts many rows as a JDBC
   * batch: the driver is then allowed to send them as one statement.
   */
  public static HikariDataSource openIn(String schema, String jdbcUrl, int connections) {
    return new HikariDataSource(config(schema, jdbcUrl, connections));
  }

  /** The same for somebody who commits himself: else the driver cuts a batch into many. */
  public static HikariDataSource openForBatchesIn(String schema, String jdbcUrl) {
    HikariConfig config = config(schema, jdbcUrl, 1);
    config.setAutoCommit(false);
    return new HikariDataSource(config);
  }

  private static HikariConfig config(String schema, String jdbcUrl, int connections) {
    HikariConfig config = config(jdbcUrl, connections);
    config.addDataSourceProperty("currentSchema", schema);
    config.addDataSourceProperty("reWriteBatchedInserts", true);
    return config;
  }

  private static HikariConfig config(String jdbcUrl, int connections) {
    // All connections are there before anything is measured.
    System.setProperty("com.zaxxer.hikari.blockUntilFilled", "true");
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(jdbcUrl);
    config.setMaximumPoolSize(connections);
    config.setInitializationFailTimeout(10_000);
    return config;
  }
}
