package dev.holdfast.wake;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.tenant.SchemaName;
import dev.holdfast.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.postgresql.PGConnection;
import org.postgresql.ds.PGSimpleDataSource;

class ListenerTest {

  private final PGSimpleDataSource direct = new PGSimpleDataSource();
  private final Channel channel = Channel.of(new SchemaName("listener_test"));
  private final Bell bell = new Bell();
  private final List<String> rung = new ArrayList<>();
  private int session;

  @Test
  void a_listener_whose_connection_was_cut_listens_again_and_hears() throws Exception {
    direct.setUrl(TestDatabase.shared().jdbcUrl());
    try (AutoCloseable unused = bell.onRing(rung::add);
        Listener listener = new Listener(remembered(), channel, bell)) {
      listener.runOnce();
      announce("before");
      listener.runOnce();
      execute("SELECT pg_terminate_backend(" + session + ")");
      Duration pause = Duration.ZERO;
      while (pause.isZero()) { // until the cut has come through
        pause = listener.runOnce();
      }

      listener.runOnce();
      announce("after");
      listener.runOnce();

      assertThat(pause).isPositive();
      assertThat(rung).containsExactly("before", "after");
    }
  }

  private void announce(String tenant) throws SQLException {
    execute("NOTIFY %s, '%s@somebody'".formatted(channel.name(), tenant));
  }

  private void execute(String sql) throws SQLException {
    try (Connection connection = direct.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  /** Lends connections and keeps in mind which session the last one is. */
  private DataSource remembered() {
    return new PGSimpleDataSource() {
      private static final long serialVersionUID = 1L;

      @Override
      public Connection getConnection() throws SQLException {
        Connection connection = direct.getConnection();
        session = connection.unwrap(PGConnection.class).getBackendPID();
        return connection;
      }
    };
  }
}
