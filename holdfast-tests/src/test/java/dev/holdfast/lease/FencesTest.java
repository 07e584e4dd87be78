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
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Fences after a database was set back. On a database of its own: all tenants' are raised. */
class FencesTest {

  private static final Act RESTORED = Act.by("ada").because("from a backup");
  private static final TenantName DROPPED = new TenantName("dropped");
  private static final TenantName UNKNOWN = new TenantName("unknown");

  private static final long AHEAD = 4_000_000_000_000_000L; // of the time, until the year 2096

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
  void every_tenant_goes_on_from_the_time() throws Exception {
    long before = micros();

    Map<TenantName, Long> raised = holdfast.raiseFences(RESTORED);

    long next = fence(TenantName.DEFAULT);
    assertThat(raised).containsExactly(Map.entry(TenantName.DEFAULT, next - 1));
    assertThat(next).isBetween(before, micros());
  }

  @Test
  void fences_that_are_ahead_of_the_time_leap() throws Exception {
    execute("SELECT setval('holdfast_default.fence', %d)".formatted(AHEAD));

    assertThat(holdfast.raiseFences(RESTORED))
        .containsExactly(Map.entry(TenantName.DEFAULT, AHEAD + Fences.LEAP));
    assertThat(holdfast.audit().latest(1))
        .singleElement()
        .satisfies(record -> {
          assertThat(record.before()).contains(String.valueOf(AHEAD));
          assertThat(record.after()).contains(String.valueOf(AHEAD + Fences.LEAP));
        });
  }

  // One life of the database grants them, is lost, and another one begins at the same backup. That
  // was taken soon after fences had been raised: so they are not far behind the time.
  @Test
  void two_restores_of_one_backup_grant_different_fences() throws Exception {
    holdfast.tenants().create(DROPPED);
    holdfast.tenants().drop(DROPPED);
    holdfast.raiseFences(RESTORED);
    execute("CREATE TABLE backup AS TABLE holdfast.dropped_tenant");
    long backup = fence(TenantName.DEFAULT);

    List<Long> first = fencesOfALife();
    for (TenantName made : List.of(DROPPED, UNKNOWN)) {
      execute("DROP SCHEMA holdfast_%s CASCADE".formatted(made));
      execute("DELETE FROM holdfast.tenant WHERE name = '%s'".formatted(made));
    }
    execute("TRUNCATE holdfast.dropped_tenant");
    execute("INSERT INTO holdfast.dropped_tenant TABLE backup");
    execute("SELECT setval('holdfast_default.fence', %d)".formatted(backup));
    List<Long> second = fencesOfALife();

    assertThat(first).allMatch(fence -> fence > backup);
    assertThat(Collections.min(second)).isGreaterThan(Collections.max(first));
  }

  private List<Long> fencesOfALife() throws SQLException {
    holdfast.raiseFences(RESTORED);
    holdfast.tenants().create(DROPPED);
    holdfast.tenants().create(UNKNOWN);
    return List.of(fence(TenantName.DEFAULT), fence(DROPPED), fence(UNKNOWN));
  }

  // Such a tenant may have been made after the backup, and its workers may still run.
  @Test
  void so_do_tenants_that_the_database_does_not_know_once_they_are_made() throws Exception {
    holdfast.tenants().create(DROPPED);
    holdfast.tenants().drop(DROPPED);
    long before = micros();

    holdfast.raiseFences(RESTORED);
    holdfast.tenants().create(DROPPED);
    holdfast.tenants().create(UNKNOWN);

    assertThat(fence(DROPPED)).isBetween(before, micros());
    assertThat(fence(UNKNOWN)).isBetween(before, micros());
  }

  // As in a backup of an earlier version.
  @Test
  void so_do_they_where_there_was_no_table_of_them_yet() throws Exception {
    execute("DROP TABLE holdfast.dropped_tenant, holdfast.reached, holdfast.outage");
    for (String column : List.of("idle_since", "idle_until", "poll_ms")) {
      execute("ALTER TABLE holdfast.worker DROP COLUMN " + column);
    }
    execute("DELETE FROM holdfast.migration WHERE version >= 6");
    long before = micros();

    assertThat(holdfast.raiseFences(RESTORED)).containsOnlyKeys(TenantName.DEFAULT);
    holdfast.tenants().create(UNKNOWN);

    assertThat(fence(TenantName.DEFAULT)).isBetween(before, micros());
    assertThat(fence(UNKNOWN)).isBetween(before, micros());
  }

  @Test
  void and_if_theirs_are_ahead_of_the_time_they_leap() throws Exception {
    execute("INSERT INTO holdfast.dropped_tenant (name, fence) VALUES ('*', %d)".formatted(AHEAD));
    execute(
        "INSERT INTO holdfast.dropped_tenant (name, fence) VALUES ('%s', %d)"
            .formatted(DROPPED, 2 * AHEAD));

    holdfast.raiseFences(RESTORED);
    holdfast.tenants().create(DROPPED);
    holdfast.tenants().create(UNKNOWN);

    assertThat(fence(DROPPED)).isEqualTo(2 * AHEAD + Fences.LEAP + 1);
    assertThat(fence(UNKNOWN)).isEqualTo(AHEAD + Fences.LEAP + 1);
  }

  @Test
  void a_schema_that_was_brought_from_elsewhere_keeps_its_fences() throws Exception {
    holdfast.raiseFences(RESTORED);
    holdfast.tenants().create(UNKNOWN);
    execute("SELECT setval('holdfast_%s.fence', %d)".formatted(UNKNOWN, AHEAD));
    execute("DELETE FROM holdfast.tenant WHERE name = '%s'".formatted(UNKNOWN));

    holdfast.tenants().create(UNKNOWN);

    assertThat(fence(UNKNOWN)).isEqualTo(AHEAD + 1);
  }

  private void execute(String sql) throws SQLException {
    try (Connection connection = pool.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private long fence(TenantName tenant) throws SQLException {
    return ask("SELECT nextval('holdfast_%s.fence')".formatted(tenant));
  }

  private long micros() throws SQLException {
    return ask("SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint");
  }

  private long ask(String sql) throws SQLException {
    try (Connection connection = pool.getConnection();
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      row.next();
      return row.getLong(1);
    }
  }
}
