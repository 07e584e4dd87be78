package dev.holdfast.fault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.fault.Script.Once;
import dev.holdfast.tenant.SchemaName;
import dev.holdfast.tenant.TenantName;
import dev.holdfast.tenant.Tenants;
import dev.holdfast.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tenants that are made, dropped and migrated while connections fail, in a corner of their own. For
 * every fault at every point: {@code -Dholdfast.faults.everything=true}.
 */
@Timeout(value = 1, unit = TimeUnit.HOURS) // of everything there is, where somebody asks for it
class TenantFaultsTest {

  private static final TenantName ACME = new TenantName("acme");

  private final Reach reach = new Reach();
  private int trials;

  @Test
  void a_tenant_is_made_or_not() throws Exception {
    try (Corner corner = new Corner("faults_create")) {
      corner.steady().migrate();
      everywhere(
          corner,
          tenants ->
              tenants.createIfAbsent(
                  ACME, handle -> assertThat(tenants.hadNamesake(handle, ACME)).isTrue()),
          () -> {
            corner.dropIfThere(ACME);
            corner.execute("DELETE FROM %1$s.dropped_tenant");
            corner.execute("INSERT INTO %1$s.dropped_tenant (name, fence) VALUES ('acme', 5)");
          });
      came(
          "Tenants.REGISTER",
          "Tenants.GO_ON_FROM",
          "Namesakes.HAD",
          "Namesakes.FORGET_WORKERS",
          "Migrator.VERSION");
    }
  }

  @Test
  void a_tenant_is_dropped_or_not() throws Exception {
    try (Corner corner = new Corner("faults_drop")) {
      corner.steady().migrate();
      everywhere(
          corner,
          tenants -> {
            if (tenants.list().contains(ACME)) {
              tenants.drop(ACME);
            }
          },
          () -> {
            corner.execute("DELETE FROM %1$s.dropped_tenant"); // or it goes on from the last one
            corner.steady().create(ACME);
            corner.execute("DELETE FROM %1$s.worker");
            corner.execute(
                "INSERT INTO %1$s.worker (incarnation, name, host, labels, tenant, queues) VALUES"
                    + " (gen_random_uuid(), 'w', 'w', '{}', 'acme', '{}')");
          });
      came(
          "Tenants.UNREGISTER",
          "Tenants.REMEMBER_FENCE",
          "Namesakes.FORGET_WORKERS",
          "Tenants.LIST");
    }
  }

  @Test
  void a_tenant_is_migrated_or_not() throws Exception {
    try (Corner corner = new Corner("faults_upgrade")) {
      corner.steady().migrate();
      corner.steady().create(ACME);
      everywhere(
          corner,
          Tenants::migrate,
          () ->
              corner.execute(
                  "DELETE FROM %1$s_acme.migration WHERE name = '016_settings_in_force'"));
      came("Tenants.HOLD");
    }
  }

  @Test
  void control_tables_are_made_or_not() throws Exception {
    try (Corner corner = new Corner("faults_migrate")) {
      everywhere(corner, Tenants::migrate, corner::clear);
    }
  }

  /** These were among what failed. */
  private void came(String... statements) {
    assertThat(reach.missing()).doesNotContain(statements);
  }

  private void everywhere(Corner corner, Consumer<Tenants> operation, Runnable reset)
      throws SQLException {
    reset.run();
    List<String> before = corner.all();
    corner.pool.play(Script.NOTHING);
    operation.accept(corner.faulty());
    List<Point> points = corner.pool.passed();
    reach.note(points);
    List<String> after = corner.all();
    assertThat(points).isNotEmpty();
    assertThat(after).isNotEqualTo(before);

    for (Once trouble : new Troubles(FaultPointsTest.EVERYTHING).at(points)) {
      reset.run();
      Tenants tenants = corner.faulty();
      corner.pool.play(trouble);
      Throwable thrown = catchThrowable(() -> operation.accept(tenants));
      assertThat(corner.pool.heal()).as("%s struck", trouble).isNotEmpty();

      assertThat(thrown).as("%s", trouble).isInstanceOf(HoldfastException.class);
      assertThat(((HoldfastException) thrown).code()).isEqualTo(ErrorCode.DATABASE);
      assertThat(corner.all()).as("%s", trouble).isIn(before, after);
      operation.accept(tenants);
      assertThat(corner.all()).as("repeated after %s", trouble).isEqualTo(after);
      assertThat(corner.pool.complaints()).isEmpty();
      assertThat(corner.pool.lent()).isZero();
      trials++;
    }
    System.out.printf(
        "Tenant faults: %s, %d points, %d faults%n", corner.name, points.size(), trials);
  }

  /** A control schema and its tenants. */
  private static final class Corner implements AutoCloseable {

    private final String name;
    private final FaultyPool pool = FaultyPool.forThisThread(Ground.url());
    private final Connection connection =
        DriverManager.getConnection(TestDatabase.shared().jdbcUrl());

    Corner(String name) throws SQLException {
      this.name = name;
    }

    Tenants steady() {
      return new Tenants(TestDatabase.shared().dataSource(), new SchemaName(name));
    }

    Tenants faulty() {
      return new Tenants(pool.dataSource(), new SchemaName(name));
    }

    void dropIfThere(TenantName tenant) {
      if (steady().list().contains(tenant)) {
        steady().drop(tenant);
      }
    }

    void clear() {
      execute("DROP SCHEMA IF EXISTS %1$s, %1$s_acme CASCADE");
    }

    void execute(String sql) {
      try (Statement statement = connection.createStatement()) {
        statement.execute(sql.formatted(name));
      } catch (SQLException e) {
        throw new IllegalStateException(e);
      }
    }

    /** What there is: tables, how far they are, who is registered, and where fences are. */
    List<String> all() throws SQLException {
      List<String> found =
          column(
              """
              SELECT nspname || '.' || relname
                FROM pg_class
                JOIN pg_namespace ON pg_namespace.oid = relnamespace
               WHERE nspname IN ('%1$s', '%1$s_acme') AND relkind IN ('r', 'v', 'S')
               ORDER BY 1
              """);
      if (found.contains(name + "_acme.migration")) {
        found.addAll(column("SELECT 'migrated: ' || name FROM %1$s_acme.migration ORDER BY 1"));
      }
      if (found.contains(name + ".tenant")) {
        steady().list().forEach(tenant -> found.add("registered: " + tenant));
      }
      if (found.contains(name + ".dropped_tenant")) {
        found.addAll(column("SELECT name || ' was at ' || fence FROM %1$s.dropped_tenant"));
      }
      if (found.contains(name + ".worker")) {
        found.addAll(column("SELECT 'worker: ' || name || ' of ' || tenant FROM %1$s.worker"));
      }
      if (found.contains(name + "_acme.fence")) {
        found.addAll(
            column("SELECT 'fences: ' || last_value || ' ' || is_called FROM %1$s_acme.fence"));
      }
      return found;
    }

    private List<String> column(String sql) throws SQLException {
      List<String> found = new ArrayList<>();
      try (Statement statement = connection.createStatement();
          ResultSet rows = statement.executeQuery(sql.formatted(name))) {
        while (rows.next()) {
          found.add(rows.getString(1));
        }
      }
      return found;
    }

    @Override
    public void close() throws SQLException {
      clear();
      connection.close();
      pool.close();
    }
  }
}
