package dev.holdfast.examples.dailybrief;

import dev.holdfast.tenant.SchemaName;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import javax.sql.DataSource;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;

/** The application's own tables, in a schema of their own beside Holdfast's. Thread-safe. */
final class BriefDatabase {

  static final SchemaName SCHEMA = new SchemaName("daily_brief");

  private static final List<String> MIGRATIONS = List.of("001_tables");

  private static final String LOCK =
      """
      SELECT pg_advisory_xact_lock(hashtext('{schema}'))
      """;

  private static final String HISTORY =
      """
      CREATE SCHEMA IF NOT EXISTS {schema};
      CREATE TABLE IF NOT EXISTS {schema}.migration (name text PRIMARY KEY);
      """;

  private static final String RECORD =
      """
      INSERT INTO {schema}.migration (name) VALUES (:name) ON CONFLICT DO NOTHING
      """;

  // Whoever assigns articles to clusters, or deletes either, does so alone: two at once could each
  // open a cluster for one event. Readers are let through.
  private static final String LOCK_CLUSTERS =
      """
      LOCK TABLE {schema}.clusters IN SHARE ROW EXCLUSIVE MODE
      """;

  private final Jdbi jdbi;
  private final SchemaName schema;

  BriefDatabase(DataSource dataSource, SchemaName schema) {
    this.jdbi = Jdbi.create(dataSource);
    this.schema = schema;
  }

  Jdbi jdbi() {
    return jdbi;
  }

  String sql(String template) {
    return schema.render(template);
  }

  void lockClusters(Handle handle) {
    handle.execute(sql(LOCK_CLUSTERS));
  }

  /** Makes the tables that are missing; any number of processes may do so at once. */
  BriefDatabase migrate() {
    jdbi.useTransaction(handle -> {
      handle.createQuery(sql(LOCK)).mapTo(String.class).one();
      executeAll(handle, sql(HISTORY));
      for (String name : MIGRATIONS) {
        if (handle.createUpdate(sql(RECORD)).bind("name", name).execute() == 1) {
          executeAll(handle, sql(read(name)));
        }
      }
    });
    return this;
  }

  // Straight to the driver, which splits a script as the server would.
  private static void executeAll(Handle handle, String script) {
    try (Statement statement = handle.getConnection().createStatement()) {
      statement.execute(script);
    } catch (SQLException e) {
      throw new IllegalStateException("migration failed: " + e.getMessage(), e);
    }
  }

  private static String read(String name) {
    try (InputStream file = BriefDatabase.class.getResourceAsStream(name + ".sql")) {
      if (file == null) {
        throw new IllegalStateException("missing resource " + name + ".sql");
      }
      return new String(file.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
