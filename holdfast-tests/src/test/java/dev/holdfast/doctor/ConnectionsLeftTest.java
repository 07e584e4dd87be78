package dev.holdfast.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.Holdfast;
import dev.holdfast.doctor.Finding.Level;
import dev.holdfast.rig.RunDatabase;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Connections are counted towards the limits that they count towards, while others have more. */
class ConnectionsLeftTest {

  private static final int OPEN = 8; // beside the one that asks

  @Test
  void a_limit_of_the_role_or_the_database_is_compared_with_their_own_connections()
      throws SQLException {
    String url = RunDatabase.create().jdbcUrl();
    String role = "limited_" + Long.toHexString(System.nanoTime());
    String limited = url.replaceFirst("user=[^&]+", "user=" + role);
    List<Connection> open = new ArrayList<>();
    try (Connection another = DriverManager.getConnection(url);
        Statement statement = another.createStatement()) {
      // PostgreSQL itself would not hold a superuser to it.
      statement.execute("CREATE ROLE %s SUPERUSER LOGIN CONNECTION LIMIT 10".formatted(role));
      for (int i = 0; i < OPEN; i++) {
        open.add(DriverManager.getConnection(limited));
      }
      try (HikariDataSource one = new HikariDataSource(one(limited))) {
        Check check = new ConnectionsLeft(Holdfast.on(one).tenants().control());

        assertThat(check.look().detail()).isEqualTo("9 of 10 in use");
        assertThat(check.look().level()).isEqualTo(Level.WARN);

        statement.execute("ALTER DATABASE %s CONNECTION LIMIT 10".formatted(another.getCatalog()));
        assertThat(check.look().detail()).as("the other role's, too").isEqualTo("10 of 10 in use");
        assertThat(check.look().level()).isEqualTo(Level.FAIL);
      }
    } finally {
      for (Connection each : open) {
        each.close();
      }
    }
  }

  private static HikariConfig one(String url) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(url);
    config.setMaximumPoolSize(1);
    return config;
  }
}
