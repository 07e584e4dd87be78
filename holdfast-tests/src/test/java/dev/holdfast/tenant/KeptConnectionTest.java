package dev.holdfast.tenant;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.Holdfast;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.rig.Proxies;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.testkit.TestTenant;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;
import org.postgresql.jdbc.PgConnection;

@DisabledIfSystemProperty(
    named = TestDatabase.BOUNCER_PROPERTY,
    matches = "true",
    disabledReason =
        "It makes a session read-only, which whoever gets that session next would find.")
class KeptConnectionTest {

  @RegisterExtension final TestTenant tenant = new TestTenant();

  @Test
  void nobody_waits_for_ever_for_a_server_that_fell_silent() throws Exception {
    try (Tenants own = tenant.holdfast().tenants().keepingAConnection()) {
      own.keepConnection();

      assertThat(timeout(own)).isPositive();
    }
  }

  @Test
  void what_the_application_set_for_its_connections_is_so_again_when_they_are_given_back()
      throws Exception {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(TestDatabase.shared().jdbcUrl());
    config.addDataSourceProperty("socketTimeout", "7");
    config.setMaximumPoolSize(1);
    try (HikariDataSource pool = new HikariDataSource(config)) {
      try (Tenants own = Holdfast.on(pool).tenants().keepingAConnection()) {
        own.keepConnection();
        assertThat(timeout(own)).isEqualTo(7_000); // less than we would wait
      }

      try (Connection given = pool.getConnection()) {
        assertThat(given.unwrap(PgConnection.class).getNetworkTimeout()).isEqualTo(7_000);
      }
    }
  }

  private static int timeout(Tenants own) throws SQLException {
    return own.control()
        .<Integer, SQLException>withHandle(handle -> handle.getConnection().getNetworkTimeout());
  }

  @Test
  void one_that_leads_to_a_server_without_writes_is_not_kept() throws Exception {
    try (Tenants own = tenant.holdfast().tenants().keepingAConnection()) {
      own.keepConnection();
      Db db = own.open(tenant.name()).db();
      db.useHandle(handle -> handle.execute("SET default_transaction_read_only = on")); // demoted
      String write = db.sql("DELETE FROM {schema}.subject");

      assertThatThrownBy(() -> db.useHandle(handle -> handle.execute(write)))
          .isInstanceOf(HoldfastException.class);

      assertThat(db.<Integer, RuntimeException>withHandle(handle -> handle.execute(write)))
          .isZero();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"setAutoCommit", "setNetworkTimeout"})
  void one_that_breaks_while_it_is_made_ready_goes_back_to_its_pool(String broken) {
    AtomicInteger lent = new AtomicInteger();
    DataSource pool =
        new PGSimpleDataSource() {
          private static final long serialVersionUID = 1L;

          @Override
          public Connection getConnection() throws SQLException {
            Connection connection = TestDatabase.shared().dataSource().getConnection();
            connection.setAutoCommit(false);
            lent.incrementAndGet();
            return breaking(connection, broken, lent);
          }
        };

    assertThatThrownBy(() -> new KeptConnection(new PoolConnections(pool)).openConnection())
        .hasMessageContaining(broken);

    assertThat(lent).hasValue(0);
  }

  private static Connection breaking(Connection connection, String broken, AtomicInteger lent) {
    return Proxies.make(
        Connection.class,
        (method, arguments) -> {
          if (method.getName().equals("close")) {
            lent.decrementAndGet();
          }
          if (method.getName().equals(broken)) {
            throw new SQLException(broken + " on a broken connection", "08006");
          }
          return method.invoke(connection, arguments);
        });
  }
}
