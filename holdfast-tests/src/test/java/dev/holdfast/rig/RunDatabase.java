package dev.holdfast.rig;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.testkit.TestDatabase;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** A database of one run's own, because the count of deadlocks is the database's. */
public record RunDatabase(String jdbcUrl) {

  public static RunDatabase create() throws SQLException {
    TestDatabase server = TestDatabase.shared();
    String name = "run_" + Long.toHexString(System.nanoTime());
    try (Connection connection = server.dataSource().getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE DATABASE " + name);
      // The tests' server answers commits that a crash could still take back.
      statement.execute("ALTER DATABASE " + name + " SET synchronous_commit = on");
    }
    return new RunDatabase(server.jdbcUrl().replace("/postgres?", "/" + name + "?"));
  }

  /** At most so many connections to it, which are made when they are needed. */
  public HikariDataSource pool(int size) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(jdbcUrl);
    config.setMaximumPoolSize(size);
    config.setMinimumIdle(1);
    return new HikariDataSource(config);
  }

  public int port() {
    return URI.create(jdbcUrl.substring("jdbc:".length())).getPort();
  }

  /** The same by way of another port here. */
  public String jdbcUrl(int port) {
    return jdbcUrl.replaceFirst("//[^/]*/", "//127.0.0.1:" + port + "/");
  }

  /**
   * Kills one of the server's processes, which makes it end all others and recover from its log.
   */
  public void crash() {
    try (Connection connection = TestDatabase.shared().dataSource().getConnection();
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SELECT pg_backend_pid()")) {
      row.next();
      new ProcessBuilder("kill", "-9", row.getString(1)).start().onExit().join();
    } catch (SQLException e) {
      // It was away already, or hangs up just now.
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
