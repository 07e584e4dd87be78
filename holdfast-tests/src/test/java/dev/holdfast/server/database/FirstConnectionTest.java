package dev.holdfast.server.database;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.testkit.TestDatabase;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A pool asks its first connection for the isolation level, and that one may be cut just then. */
@Timeout(60)
class FirstConnectionTest {

  private static final String QUESTION = "SHOW TRANSACTION ISOLATION LEVEL";

  private final CountDownLatch cut = new CountDownLatch(1);
  private ServerSocket way;
  private String jdbcUrl;

  @BeforeEach
  void lay() throws IOException {
    String direct = TestDatabase.shared().jdbcUrl();
    int port = URI.create(direct.substring("jdbc:".length())).getPort();
    way = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    jdbcUrl = direct.replaceFirst("//[^/]*/", "//127.0.0.1:" + way.getLocalPort() + "/");
    Thread.startVirtualThread(() -> {
      while (!way.isClosed()) {
        try {
          Socket client = way.accept();
          Socket server = new Socket(InetAddress.getLoopbackAddress(), port);
          Thread.startVirtualThread(() -> pass(client, server));
          Thread.startVirtualThread(() -> pass(server, client));
        } catch (IOException e) {
          assertThat(way.isClosed()).isTrue();
        }
      }
    });
  }

  @AfterEach
  void end() throws IOException {
    way.close();
  }

  // What is cut is the first connection that is asked, and that one alone.
  private void pass(Socket from, Socket to) {
    try (from;
        to;
        InputStream in = from.getInputStream();
        OutputStream out = to.getOutputStream()) {
      byte[] bytes = new byte[8192];
      for (int read = in.read(bytes); read >= 0; read = in.read(bytes)) {
        if (cut.getCount() > 0 && new String(bytes, 0, read, ISO_8859_1).contains(QUESTION)) {
          cut.countDown();
          return;
        }
        out.write(bytes, 0, read);
      }
    } catch (IOException e) {
      // One end has gone, and so has the other.
    }
  }

  @Test
  void a_pool_goes_on_after_its_first_connection_was_cut() throws Exception {
    try (HikariDataSource pool = new HikariDataSource(config())) {
      try (Connection first = pool.getConnection();
          Statement statement = first.createStatement();
          ResultSet row = statement.executeQuery("SHOW transaction_isolation")) {
        row.next();

        assertThat(row.getString(1)).isEqualTo("read committed");
      }
      assertThat(cut.getCount()).as("the first was cut").isZero();
    }
  }

  /** What it is about: a pool that is not told never gets over it. */
  @Test
  void one_that_is_not_told_the_level_does_not() {
    HikariConfig config = config();
    config.setTransactionIsolation(null);
    config.setConnectionTimeout(2_000);
    try (HikariDataSource pool = new HikariDataSource(config)) {
      assertThatThrownBy(pool::getConnection).isInstanceOf(SQLException.class);
      assertThat(cut.getCount()).isZero();
      assertThatThrownBy(pool::getConnection).isInstanceOf(SQLException.class);
    }
  }

  // Made when it is first asked for one, and not with the pool, which would then not be made.
  private HikariConfig config() {
    Properties none = new Properties();
    HikariConfig config =
        Database.pool(new DatabaseConfig(jdbcUrl, 2 * DatabaseConfig.RESERVED), none, "first", 2);
    config.setInitializationFailTimeout(-1);
    return config;
  }
}
