package dev.holdfast.server.database;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.SQLExceptionOverride;
import dev.holdfast.Holdfast;
import dev.holdfast.HoldfastBuilder;
import dev.holdfast.tenant.Pooling;
import dev.holdfast.tenant.SqlErrors;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import java.util.Properties;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * The connections of a node, in two pools: one for most work, and a small reserved one for work
 * that must not wait behind it. Whatever floods the first, leases are renewed through the second.
 * Close it when done.
 *
 * <p>After a failover, connections may lead to what is now a standby. They are detected when they
 * are borrowed, or at the first write that fails, and not used again; new ones are opened to a
 * primary only.
 */
public final class Database implements AutoCloseable {

  // Fails where nothing can be written. Runs on connections that have not been used for a moment.
  private static final String TAKES_WRITES =
      """
      SELECT CASE current_setting('transaction_read_only')
             WHEN 'off' THEN 1
             ELSE ('no writes here, read-only is ' || current_setting('transaction_read_only'))::integer
             END
      """;

  // A heartbeat is better off with an error, and another try, than with a long wait.
  private static final Duration PATIENCE_OF_BEATS = Duration.ofSeconds(5);

  private final HikariDataSource work;
  private final HikariDataSource reserved;
  private final Optional<DataSource> listening;

  private Database(DatabaseConfig config, Properties properties) {
    this.work =
        new HikariDataSource(
            pool(config, properties, "holdfast", config.poolSize() - DatabaseConfig.RESERVED));
    HikariConfig small = pool(config, properties, "holdfast-reserved", DatabaseConfig.RESERVED);
    small.setConnectionTimeout(PATIENCE_OF_BEATS.toMillis());
    try {
      this.reserved = new HikariDataSource(small);
    } catch (RuntimeException e) {
      work.close();
      throw e;
    }
    this.listening = config.listenUrl().map(url -> direct(url, properties));
  }

  /** Connects; fails if the database does not answer. */
  public static Database open(DatabaseConfig config) {
    Properties properties = login(config);
    properties.setProperty("tcpKeepAlive", "true"); // detects connections that a firewall dropped
    properties.setProperty("connectTimeout", "5"); // with several hosts, one may be down
    properties.setProperty("targetServerType", "primary");
    properties.setProperty("hostRecheckSeconds", "1"); // a standby may be the primary now
    properties.setProperty("preparedStatementCacheSizeMiB", "16"); // Survey has long statements
    if (!Pooling.of(direct(config.jdbcUrl(), properties)::getConnection).keepsStatements()) {
      properties.setProperty("prepareThreshold", "0");
    }
    return new Database(config, properties);
  }

  // The URL takes precedence, as it does in the driver.
  private static DataSource direct(String jdbcUrl, Properties properties) {
    PGSimpleDataSource direct = new PGSimpleDataSource();
    try {
      for (String name : properties.stringPropertyNames()) {
        direct.setProperty(name, properties.getProperty(name));
      }
      direct.setUrl(jdbcUrl);
    } catch (SQLException e) {
      throw new IllegalStateException("our own properties are known", e);
    }
    return direct;
  }

  private static Properties login(DatabaseConfig config) {
    Properties properties = new Properties();
    config
        .login()
        .ifPresent(login -> {
          properties.setProperty("user", login.user());
          properties.setProperty("password", login.password());
        });
    return properties;
  }

  static HikariConfig pool(DatabaseConfig config, Properties properties, String name, int size) {
    HikariConfig pool = new HikariConfig();
    pool.setJdbcUrl(config.jdbcUrl());
    properties.forEach((key, value) -> pool.addDataSourceProperty((String) key, value));
    pool.setPoolName(name);
    pool.addDataSourceProperty("ApplicationName", name); // shown in pg_stat_activity
    pool.setMaximumPoolSize(size);
    // Otherwise the pool asks its first connection for it, and stays unusable if that one is cut
    // meanwhile.
    pool.setTransactionIsolation("TRANSACTION_READ_COMMITTED");
    pool.setConnectionTestQuery(TAKES_WRITES);
    pool.setExceptionOverride(new DropsReadOnly());
    return pool;
  }

  /** A new engine that uses these connections. */
  public Holdfast holdfast() {
    HoldfastBuilder builder = Holdfast.builder(work).reserve(reserved);
    listening.ifPresent(builder::listenOn);
    return builder.build();
  }

  /** Connections for work that may wait. */
  public DataSource work() {
    return work;
  }

  @Override
  public void close() {
    work.close();
    reserved.close();
  }

  /** Tells a pool to evict connections that no longer accept writes. */
  private static final class DropsReadOnly implements SQLExceptionOverride {

    @java.lang.Override
    public SQLExceptionOverride.Override adjudicate(SQLException e) {
      return SqlErrors.isReadOnly(e)
          ? SQLExceptionOverride.Override.MUST_EVICT
          : SQLExceptionOverride.Override.CONTINUE_EVICT;
    }
  }
}
