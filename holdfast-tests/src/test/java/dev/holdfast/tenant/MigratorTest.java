package dev.holdfast.tenant;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;

import dev.holdfast.Golden;
import dev.holdfast.Holdfast;
import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.rig.Waits;
import dev.holdfast.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class MigratorTest {

  private static final AtomicInteger NUMBER = new AtomicInteger();

  private final Db db =
      Db.on(TestDatabase.shared().dataSource()::getConnection, new SchemaName("holdfast"));
  private final Jdbi jdbi = db.jdbi();
  private final SchemaName schema = new SchemaName("migrator_" + NUMBER.incrementAndGet());
  private final Tenants tenants = new Tenants(TestDatabase.shared().dataSource(), schema);

  @AfterEach
  void dropSchemas() {
    jdbi.useHandle(handle -> {
      handle.execute("DROP SCHEMA IF EXISTS " + schema.value() + " CASCADE");
      handle.execute("DROP SCHEMA IF EXISTS " + schema.value() + "_default CASCADE");
    });
  }

  @Test
  void a_tenants_schema_is_as_reviewed() throws Exception {
    Migrator.TENANT.migrate(db, schema);

    Golden.assertMatches("tenant-schema.txt", SchemaDump.of(jdbi, schema));
  }

  @Test
  void the_control_schema_is_as_reviewed() throws Exception {
    Migrator.CONTROL.migrate(db, schema);

    Golden.assertMatches("control-schema.txt", SchemaDump.of(jdbi, schema));
  }

  @Test
  void exported_ddl_makes_the_same_tenant_schema() throws Exception {
    execute(Migrator.TENANT.export(schema));

    Golden.assertMatches("tenant-schema.txt", SchemaDump.of(jdbi, schema));
    Migrator.TENANT.version(db, schema).require();
  }

  @Test
  void exported_ddl_makes_the_same_control_schema() throws Exception {
    execute(Migrator.CONTROL.export(schema));

    Golden.assertMatches("control-schema.txt", SchemaDump.of(jdbi, schema));
    Migrator.CONTROL.version(db, schema).require();
  }

  @Test
  void any_number_of_nodes_may_migrate_at_once() throws Exception {
    atOnce(
        8,
        () ->
            Holdfast.builder(TestDatabase.shared().dataSource())
                .controlSchema(schema.value())
                .build()
                .migrate());

    assertThat(tenants.list()).containsExactly(TenantName.DEFAULT);
    Golden.assertMatches(
        "tenant-schema.txt", SchemaDump.of(jdbi, tenants.schemaOf(TenantName.DEFAULT)));
  }

  @Test
  void migrating_again_changes_nothing() {
    Migrator.TENANT.migrate(db, schema);
    List<String> before = tablesAndMigrations();

    Migrator.TENANT.migrate(db, schema);

    assertThat(tablesAndMigrations()).isEqualTo(before);
  }

  @Test
  void the_jobs_of_slots_get_out_of_the_way_of_other_unique_keys() {
    Migrator.TENANT.migrate(db, schema);
    execute(
        schema.render(
            """
            INSERT INTO {schema}.job (id, lane, args, unique_scope, unique_key)
            SELECT new.id::uuid, nextval(pg_get_serial_sequence('{schema}.lane', 'id')), '1',
                   'tenant', new.key
              FROM (VALUES ('00000000-0000-0000-0000-000000000001', 'slot:a@2026-01-01T00:00:00Z'),
                           ('00000000-0000-0000-0000-000000000002', 'slot:a@2026-01-01T00:00:01Z'))
                   AS new (id, key);
            INSERT INTO {schema}.slot (schedule, scheduled_for, status, job_id, decided_at)
            VALUES ('a', '2026-01-01T00:00:00Z', 'queued',
                    '00000000-0000-0000-0000-000000000001', now());
            DELETE FROM {schema}.migration WHERE version >= 9;
            """));

    Migrator.TENANT.migrate(db, schema);

    assertThat(
            jdbi.<List<String>, RuntimeException>withHandle(handle ->
                handle
                    .createQuery(schema.render("SELECT unique_scope FROM {schema}.job ORDER BY id"))
                    .mapTo(String.class)
                    .list()))
        .containsExactly("slot", "tenant");
  }

  @Test
  void a_newer_schema_that_broke_nothing_is_worked_with() {
    Migrator.TENANT.migrate(db, schema);
    execute("INSERT INTO " + schema.value() + ".migration (version, name) VALUES (99, 'later')");

    assertThatNoException().isThrownBy(() -> Migrator.TENANT.version(db, schema).require());
    assertThatNoException().isThrownBy(() -> Migrator.TENANT.migrate(db, schema));
  }

  @Test
  void a_newer_schema_that_broke_something_is_refused_and_both_versions_are_named() {
    Migrator.TENANT.migrate(db, schema);
    int known = Migrator.TENANT.version(db, schema).applied();
    execute("INSERT INTO " + schema.value() + ".migration VALUES (99, 'later', true)");

    assertThatExceptionOfType(HoldfastException.class)
        .isThrownBy(() -> Migrator.TENANT.version(db, schema).require())
        .withMessageContaining("version 99")
        .withMessageContaining("knows " + known)
        .satisfies(refusal -> assertThat(refusal.code()).isEqualTo(ErrorCode.SCHEMA_MISMATCH));
    assertThatExceptionOfType(HoldfastException.class)
        .isThrownBy(() -> Migrator.TENANT.migrate(db, schema))
        .withMessageContaining("version 99")
        .withMessageContaining("knows " + known);
  }

  @Test
  void a_missing_schema_is_refused_and_the_remedy_named() {
    assertThatExceptionOfType(HoldfastException.class)
        .isThrownBy(() -> tenants.open(TenantName.DEFAULT))
        .withMessageContaining("migrate()")
        .withMessageContaining("default")
        .satisfies(refusal -> assertThat(refusal.code()).isEqualTo(ErrorCode.NOT_FOUND));
  }

  @Test
  void a_migration_that_fails_leaves_nothing_behind() {
    // The last thing 001_jobs makes is in its way.
    execute("CREATE SCHEMA " + schema.value());
    execute("CREATE VIEW " + schema.value() + ".jobs AS SELECT 1 AS one");

    assertThatExceptionOfType(HoldfastException.class)
        .isThrownBy(() -> Migrator.TENANT.migrate(db, schema))
        .withMessageContaining("already exists");

    assertThat(tablesAndMigrations()).isEmpty();
  }

  @Test
  void dropping_a_tenant_removes_its_schema_and_dropping_it_twice_is_an_error() {
    tenants.migrate();
    tenants.create(TenantName.DEFAULT);

    tenants.drop(TenantName.DEFAULT);

    assertThat(tenants.list()).isEmpty();
    assertThatExceptionOfType(HoldfastException.class)
        .isThrownBy(() -> tenants.drop(TenantName.DEFAULT))
        .satisfies(refusal -> assertThat(refusal.code()).isEqualTo(ErrorCode.NOT_FOUND));
  }

  private static final List<String> TABLES =
      List.of("lane", "job", "hold", "resource", "job_done", "schedule");

  static List<String> tables() {
    return TABLES;
  }

  /** Who has one of its tables and wants the others gets them, and does not die of a deadlock. */
  @ParameterizedTest
  @MethodSource("tables")
  void dropping_a_tenant_gives_way_to_those_at_work_in_it(String first) throws Exception {
    tenants.migrate();
    tenants.create(TenantName.DEFAULT);

    try (ExecutorService threads = Executors.newSingleThreadExecutor()) {
      Future<?> dropping =
          jdbi.inTransaction(atWork -> {
            lock(atWork, first);
            Future<?> began = threads.submit(() -> tenants.drop(TenantName.DEFAULT));
            awaitSomeoneWaitingFor(first);
            TABLES.forEach(table -> lock(atWork, table));
            return began;
          });
      dropping.get();
    }

    assertThat(tenants.list()).isEmpty();
  }

  private void lock(Handle handle, String table) {
    handle.execute(
        "LOCK TABLE %s_default.%s IN ROW EXCLUSIVE MODE".formatted(schema.value(), table));
  }

  private void awaitSomeoneWaitingFor(String table) {
    jdbi.useHandle(handle -> {
      boolean isWaiting;
      do {
        isWaiting =
            handle
                .createQuery(
                    "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND relation = :it::regclass)")
                .bind("it", "%s_default.%s".formatted(schema.value(), table))
                .mapTo(Boolean.class)
                .one();
      } while (!isWaiting);
    });
  }

  @Test
  void whoever_uses_a_table_that_is_to_be_changed_makes_nobody_else_wait() throws Exception {
    Migrator.TENANT.migrate(db, schema);
    execute(schema.render("DELETE FROM {schema}.migration WHERE version >= 13"));
    String read = schema.render("SELECT count(*) FROM {schema}.job");
    try (ExecutorService upgrade = Executors.newSingleThreadExecutor()) {
      Future<?> upgraded =
          jdbi.inTransaction(holder -> {
            holder.execute(read);
            Future<?> running = upgrade.submit(() -> Migrator.TENANT.migrate(db, schema));
            Waits.untilSomebodyWaitsFor(holder);
            jdbi.useTransaction(beat -> {
              beat.execute("SET LOCAL lock_timeout = '30s'");
              beat.execute(read);
            });
            return running;
          });
      upgraded.get();
    }

    Golden.assertMatches("tenant-schema.txt", SchemaDump.of(jdbi, schema));
  }

  /** Tables by their oids, so that one dropped and made again is noticed; then the history. */
  private List<String> tablesAndMigrations() {
    return jdbi.withHandle(handle -> {
      List<String> all =
          new ArrayList<>(
              handle
                  .createQuery(
                      """
                      SELECT oid || ' ' || relname FROM pg_class
                       WHERE relnamespace = :schema::regnamespace AND relkind = 'r' ORDER BY 1
                      """)
                  .bind("schema", schema.value())
                  .mapTo(String.class)
                  .list());
      if (!all.isEmpty()) {
        all.addAll(
            handle
                .createQuery("SELECT migration::text FROM " + schema.value() + ".migration")
                .mapTo(String.class)
                .list());
      }
      return all;
    });
  }

  // As a person with a script would: one connection, no Jdbi, no transaction of ours.
  private static void execute(String script) {
    try (Connection connection = TestDatabase.shared().dataSource().getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(script);
    } catch (java.sql.SQLException e) {
      throw new AssertionError(e);
    }
  }

  private static void atOnce(int threads, Callable<?> work) throws Exception {
    CyclicBarrier together = new CyclicBarrier(threads);
    try (ExecutorService executor = Executors.newFixedThreadPool(threads)) {
      List<Future<?>> running = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        running.add(
            executor.submit(() -> {
              together.await();
              return work.call();
            }));
      }
      for (Future<?> one : running) {
        one.get();
      }
    }
  }
}
