package dev.holdfast.server.postgres;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Properties;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;

/** Address and login of the embedded database: on this machine, with its only user. */
public record Access(int port, String password) {

  static final String USER = "holdfast";
  static final String DATABASE = "holdfast";
  static final String MAINTENANCE = "postgres";

  public String jdbcUrl() {
    return jdbcUrl(DATABASE);
  }

  public String user() {
    return USER;
  }

  /** A source of unpooled connections to the database with the jobs. */
  public DataSource dataSource() {
    PGSimpleDataSource dataSource = new PGSimpleDataSource();
    dataSource.setUrl(jdbcUrl());
    dataSource.setUser(USER);
    dataSource.setPassword(password);
    return dataSource;
  }

  Connection connect(String database) throws SQLException {
    Properties properties = new Properties();
    properties.setProperty("user", USER);
    properties.setProperty("password", password);
    return DriverManager.getConnection(jdbcUrl(database), properties);
  }

  String ask(String sql) {
    try (Connection connection = connect(MAINTENANCE);
        Statement statement = connection.createStatement();
        ResultSet answer = statement.executeQuery(sql)) {
      answer.next();
      return answer.getString(1);
    } catch (SQLException e) {
      throw new HoldfastException(ErrorCode.UNAVAILABLE, "the database does not answer", e);
    }
  }

  void execute(String sql) {
    try (Connection connection = connect(MAINTENANCE);
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    } catch (SQLException e) {
      throw new HoldfastException(ErrorCode.UNAVAILABLE, "the database refused: " + sql, e);
    }
  }

  private String jdbcUrl(String database) {
    return "jdbc:postgresql://127.0.0.1:%d/%s".formatted(port, database);
  }

  /** Leaves out the password, because settings end up in logs. */
  @Override
  public String toString() {
    return "Access[port=" + port + "]";
  }
}
