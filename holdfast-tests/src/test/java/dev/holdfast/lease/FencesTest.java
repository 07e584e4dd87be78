package dev.holdfast.lease;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.Holdfast;
import dev.holdfast.audit.Act;
import dev.holdfast.rig.RunDatabase;
import dev.holdfast.tenant.TenantName;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Fences after a database was set back. On a database of its own: all tenants' are raised. */
class FencesTest {

  private static final Act RESTORED = Act.by("ada").because("from a backup");
  private static final TenantName DROPPED = new TenantName("dropped");
  private static final TenantName UNKNOWN = new TenantName("unknown");

  private HikariDataSource pool;
  private Holdfast holdfast;

  @BeforeEach
  void create() throws Exception {
    pool = RunDatabase.create().pool(2);
    holdfast = Holdfast.on(pool);
    holdfast.migrate();
  }

  @AfterEach
  void close() {
    pool.close();
  }

  @Test
  void every_tenant_goes_on_a_leap_further() throws Exception {
    long before = fence(TenantName.DEFAULT);

    Map<TenantName, Long> raised = holdfast.raiseFences(RESTORED);

    assertThat(raised).containsExactly(Map.entry(TenantName.DEFAULT, before + Fences.LEAP));
    assertThat(fence(TenantName.DEFAULT)).isGreaterThan(before + Fences.LEAP);
  }

  // Such a tenant may have been made after the backup, and its workers may still run.
  @Test
  void so_do_tenants_that_the_database_does_not_know_once_they_are_made() throws Exception {
    holdfast.tenants().create(DROPPED);
    long before = fence(DROPPED);
    holdfast.tenants().drop(DROPPED);

    holdfast.raiseFences(RESTORED);
    holdfast.tenants().create(DROPPED);
    assertThat(fence(DROPPED)).isGreaterThan(before + Fences.LEAP);

    holdfast.raiseFences(RESTORED);
    holdfast.tenants().create(UNKNOWN);
    assertThat(fence(UNKNOWN)).isGreaterThan(2 * Fences.LEAP);
  }

  @Test
  void a_schema_that_was_brought_from_elsewhere_keeps_its_fences() throws Exception {
    holdfast.raiseFences(RESTORED);
    holdfast.tenants().create(UNKNOWN);
    execute("SELECT setval('holdfast_%s.fence', %d)".formatted(UNKNOWN, 3 * Fences.LEAP));
    execute("DELETE FROM holdfast.tenant WHERE name = '%s'".formatted(UNKNOWN));

    holdfast.tenants().create(UNKNOWN);

    assertThat(fence(UNKNOWN)).isEqualTo(3 * Fences.LEAP + 1);
  }

  private void execute(String sql) throws SQLException {
    try (Connection connection = pool.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private long fence(TenantName tenant) throws SQLException {
    try (Connection connection = pool.getConnection();
        Statement statement = connection.createStatement();
        ResultSet row =
            statement.executeQuery("SELECT nextval('holdfast_%s.fence')".formatted(tenant))) {
      row.next();
      return row.getLong(1);
    }
  }
}
