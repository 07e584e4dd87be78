package dev.holdfast.tenant;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.jdbi.v3.core.Handle;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Upgrades one schema to this version's tables: numbered SQL files, each in the one transaction
 * that also records it, under a lock so that any number of nodes may start at once. Not done by a
 * library, because a migration library on a user's class path starts migrating the user's tables.
 */
public final class Migrator {

  public static final Migrator CONTROL =
      new Migrator(
          "control",
          List.of(
              "001_tenants_and_workers",
              "002_tokens",
              "003_worker_info",
              "004_sessions_and_drains",
              "005_signatures",
              "006_dropped_tenants",
              "007_outages",
              "008_idle_workers"));
  public static final Migrator TENANT =
      new Migrator(
          "tenant",
          List.of(
              "001_jobs",
              "002_invariants",
              "003_invariants_of_resources",
              "004_schedules",
              "005_registry",
              "006_agents",
              "007_targets_and_pull",
              "008_kind_settings",
              "009_slot_keys",
              "010_turns_by_grant",
              "011_failures_by_limits",
              "012_room_kept_for_a_waiter",
              "013_length_of_leases",
              "014_errors_of_targets",
              "015_sites_and_nodes",
              "016_settings_in_force"));

  private static final Logger log = LoggerFactory.getLogger(Migrator.class);

  private static final String HISTORY =
      """
      CREATE SCHEMA IF NOT EXISTS {schema};
      CREATE TABLE IF NOT EXISTS {schema}.migration (
        version    integer PRIMARY KEY,
        name       text NOT NULL,
        breaking   boolean NOT NULL DEFAULT false, -- earlier versions cannot work on it
        applied_at timestamptz NOT NULL DEFAULT now()
      );
      """;

  private static final String VERSION =
      """
      SELECT coalesce(max(version), 0) AS applied,
             coalesce(max(version) FILTER (WHERE breaking), 0) AS breaking
        FROM {schema}.migration
      """;

  // A transaction-level lock on a number that only Holdfast uses, and the schema's own name.
  private static final String LOCK =
      """
      SELECT pg_advisory_xact_lock(1215652198, hashtext(:schema))
      """;

  private final String directory;
  private final List<String> names;

  private Migrator(String directory, List<String> names) {
    this.directory = directory;
    this.names = names;
  }

  void migrate(Db db, SchemaName schema) {
    new LockRetries(db, schema).use(handle -> migrate(handle, schema));
  }

  /**
   * Applies the missing migrations. A schema that is up to date is only read. Throws what {@link
   * LockRetries} knows when somebody uses its tables for long.
   */
  void migrate(Handle handle, SchemaName schema) {
    handle.createQuery(LOCK).bind("schema", schema.value()).mapTo(String.class).one();
    executeAll(handle, schema.render(HISTORY));
    SchemaVersion before = version(handle, schema);
    before.refuseBroken();
    if (before.applied() < names.size()) {
      handle.execute("SET LOCAL lock_timeout = '500ms'");
    }
    for (int version = before.applied() + 1; version <= names.size(); version++) {
      log.info("Migrating schema {} to {}", schema.value(), names.get(version - 1));
      executeAll(handle, schema.render(step(version)));
    }
  }

  SchemaVersion version(Db db, SchemaName schema) {
    return db.withHandle(handle -> version(handle, schema));
  }

  private SchemaVersion version(Handle handle, SchemaName schema) {
    return handle
        .createQuery(schema.render(VERSION))
        .map((row, context) ->
            new SchemaVersion(schema, row.getInt("applied"), row.getInt("breaking"), names.size()))
        .one();
  }

  boolean exists(Db db, SchemaName schema) {
    return db.withHandle(handle ->
        handle
            .createQuery("SELECT to_regclass(:table) IS NOT NULL")
            .bind("table", schema.value() + ".migration")
            .mapTo(Boolean.class)
            .one());
  }

  /** All statements that create the schema, for operators who apply DDL by their own means. */
  public String export(SchemaName schema) {
    StringBuilder ddl = new StringBuilder(schema.render(HISTORY));
    for (int version = 1; version <= names.size(); version++) {
      ddl.append('\n').append(schema.render(step(version)));
    }
    return ddl.toString();
  }

  /** The grants that a role needs at run time: access to rows, no DDL. */
  public static String grants(SchemaName schema, SchemaName role) {
    return schema.render(
        """
        GRANT USAGE ON SCHEMA {schema} TO %1$s;
        GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO %1$s;
        GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA {schema} TO %1$s;
        """
            .formatted(role.value()));
  }

  // Passed to the driver, which splits a script as the server would.
  private static void executeAll(Handle handle, String script) {
    try (Statement statement = handle.getConnection().createStatement()) {
      statement.execute(script);
    } catch (SQLException e) {
      throw new HoldfastException(ErrorCode.DATABASE, "migration failed: " + e.getMessage(), e);
    }
  }

  private String step(int version) {
    String name = names.get(version - 1);
    return read(name)
        + "\nINSERT INTO {schema}.migration (version, name) VALUES (%d, '%s');\n"
            .formatted(version, name);
  }

  private String read(String name) {
    String path = "/dev/holdfast/migrations/" + directory + "/" + name + ".sql";
    try (InputStream file = Migrator.class.getResourceAsStream(path)) {
      if (file == null) {
        throw new IllegalStateException("missing resource " + path);
      }
      return new String(file.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
