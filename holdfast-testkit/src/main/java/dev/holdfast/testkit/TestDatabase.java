package dev.holdfast.testkit;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.Holdfast;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import javax.sql.DataSource;

/**
 * One PostgreSQL for all tests of a JVM, started at first use: the embedded one, or, with the
 * system property {@code holdfast.test.postgres}, one made from the programs in that directory.
 */
public final class TestDatabase {

  /** Names a directory with initdb and pg_ctl to test against. */
  public static final String BINARIES_PROPERTY = "holdfast.test.postgres";

  /** When true, everything goes through a PgBouncer in transaction mode. */
  public static final String BOUNCER_PROPERTY = "holdfast.test.pgbouncer";

  private static final int CONNECTIONS = 60;

  // No fsync: what a test wrote need not survive a power cut.
  private static final Map<String, String> FORGETFUL =
      Map.of(
          "fsync", "off",
          "synchronous_commit", "off",
          "full_page_writes", "off",
          "max_connections", "300");

  private final String jdbcUrl;
  private final DataSource dataSource;
  private final Holdfast holdfast;

  private TestDatabase() {
    jdbcUrl = startServer();
    if (Boolean.getBoolean(BOUNCER_PROPERTY)) {
      dataSource = pool(startBouncer(jdbcUrl) + "&prepareThreshold=0", CONNECTIONS);
      DataSource direct = pool(jdbcUrl, 2); // notifications do not get through PgBouncer
      holdfast = Holdfast.builder(dataSource).listenOn(direct).build().migrate();
    } else {
      dataSource = pool(jdbcUrl, CONNECTIONS);
      holdfast = Holdfast.on(dataSource).migrate();
    }
  }

  private static final class Shared {
    static final TestDatabase INSTANCE = new TestDatabase();
  }

  public static TestDatabase shared() {
    return Shared.INSTANCE;
  }

  public DataSource dataSource() {
    return dataSource;
  }

  /**
   * The server's own address, for connections that must not come from the pool, such as those of
   * other roles.
   */
  public String jdbcUrl() {
    return jdbcUrl;
  }

  public Holdfast holdfast() {
    return holdfast;
  }

  private static String startServer() {
    String binaries = System.getProperty(BINARIES_PROPERTY, "");
    if (!binaries.isBlank()) {
      return PostgresCluster.start(Path.of(binaries), FORGETFUL).jdbcUrl();
    }
    try {
      EmbeddedPostgres server =
          EmbeddedPostgres.builder().setServerConfig("max_connections", "300").start();
      return server.getJdbcUrl("postgres", "postgres");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String startBouncer(String jdbcUrl) {
    try {
      Path directory = Files.createTempDirectory("holdfast-pgbouncer");
      Bouncer bouncer = Bouncer.start(directory, jdbcUrl, "transaction", CONNECTIONS);
      Runtime.getRuntime().addShutdownHook(new Thread(bouncer::end));
      return bouncer.jdbcUrl();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static DataSource pool(String jdbcUrl, int connections) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(jdbcUrl);
    config.setMaximumPoolSize(connections);
    config.setMinimumIdle(Math.min(4, connections));
    // A zone with an odd offset: code that confuses local time with UTC fails here, and not only in
    // Auckland.
    config.setConnectionInitSql("SET TIME ZONE 'Pacific/Chatham'");
    return new HikariDataSource(config);
  }
}
