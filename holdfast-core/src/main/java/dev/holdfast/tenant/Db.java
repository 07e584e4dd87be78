package dev.holdfast.tenant;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.util.UUID;
import javax.sql.DataSource;
import org.jdbi.v3.core.ConnectionFactory;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.statement.SqlStatements;
import org.jdbi.v3.core.statement.TemplateEngine;

/**
 * The way to one schema's tables: connections, and SQL rendered for that schema. Names are always
 * qualified; nothing of a tenant ever sticks to a pooled connection.
 */
public record Db(SchemaName schema, Jdbi jdbi) {

  /** Statements are rendered once, where they are used, and never put together from pieces. */
  public String sql(String template) {
    return schema.render(template);
  }

  static Jdbi jdbiOn(DataSource dataSource) {
    return configured(Jdbi.create(dataSource));
  }

  /**
   * A handle on a connection that belongs to somebody else: closing it leaves the connection open.
   */
  public static Handle borrowed(Connection connection) {
    ConnectionFactory lent =
        new ConnectionFactory() {
          @Override
          public Connection openConnection() {
            return connection;
          }

          @Override
          public void closeConnection(Connection ignored) throws SQLException {
            // The lender closes it.
          }
        };
    return configured(Jdbi.create(lent)).open();
  }

  private static Jdbi configured(Jdbi jdbi) {
    jdbi.getConfig(SqlStatements.class).setTemplateEngine(TemplateEngine.NOP);
    jdbi.registerArrayType(UUID.class, "uuid");
    jdbi.registerArrayType(String.class, "text");
    jdbi.registerArrayType(Long.class, "bigint");
    jdbi.registerArrayType(Integer.class, "integer");
    jdbi.registerArrayType(Boolean.class, "boolean");
    jdbi.registerArrayType(OffsetDateTime.class, "timestamptz");
    return jdbi;
  }
}
