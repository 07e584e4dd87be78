package dev.holdfast.tenant;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import java.util.List;
import javax.sql.DataSource;
import org.jdbi.v3.core.Jdbi;

/**
 * The tenants of one database: each an isolated set of jobs in a schema of its own. Thread-safe.
 * Creating, migrating and dropping need DDL rights; everything else does not.
 */
public final class Tenants {

  private static final String REGISTER =
      """
      INSERT INTO {schema}.tenant (name, schema_name)
      VALUES (:name, :schema_name)
      ON CONFLICT (name) DO NOTHING
      """;

  private static final String UNREGISTER =
      """
      DELETE FROM {schema}.tenant WHERE name = :name
      """;

  private static final String LIST =
      """
      SELECT name FROM {schema}.tenant ORDER BY name
      """;

  private final Db db;
  private final Jdbi jdbi;
  private final SchemaName control;

  public Tenants(DataSource dataSource, SchemaName control) {
    this.db = Db.on(dataSource, control);
    this.jdbi = db.jdbi();
    this.control = control;
  }

  /** Creates or upgrades the control tables and every tenant's; safe from any number of nodes. */
  public void migrate() {
    Migrator.CONTROL.migrate(jdbi, control);
    list().forEach(tenant -> Migrator.TENANT.migrate(jdbi, schemaOf(tenant)));
  }

  /** Creates the tenant if it is not there. */
  public Tenant create(TenantName tenant) {
    Migrator.TENANT.migrate(jdbi, schemaOf(tenant));
    jdbi.useHandle(handle ->
        handle
            .createUpdate(control.render(REGISTER))
            .bind("name", tenant.value())
            .bind("schema_name", schemaOf(tenant).value())
            .execute());
    return tenant(tenant);
  }

  /** Lets a role use all tables there are now, without the right to change them. */
  public void grantTo(SchemaName role) {
    jdbi.useHandle(handle -> {
      handle.createScript(Migrator.grants(control, role)).execute();
      list()
          .forEach(
              tenant -> handle.createScript(Migrator.grants(schemaOf(tenant), role)).execute());
    });
  }

  /** Removes the tenant and everything in it, for good. */
  public void drop(TenantName tenant) {
    jdbi.useTransaction(handle -> {
      int removed =
          handle.createUpdate(control.render(UNREGISTER)).bind("name", tenant.value()).execute();
      if (removed == 0) {
        throw new HoldfastException(ErrorCode.NOT_FOUND, "no tenant '" + tenant + "'");
      }
      handle.execute("DROP SCHEMA " + schemaOf(tenant).value() + " CASCADE");
    });
  }

  public List<TenantName> list() {
    return jdbi.withHandle(handle ->
        handle
            .createQuery(control.render(LIST))
            .map((row, context) -> new TenantName(row.getString("name")))
            .list());
  }

  /** An existing tenant whose tables are this version's. */
  public Tenant open(TenantName tenant) {
    if (!Migrator.TENANT.exists(jdbi, schemaOf(tenant))) {
      throw new HoldfastException(
          ErrorCode.NOT_FOUND,
          "no tenant '%s'; tenants().create() makes one, migrate() the default one"
              .formatted(tenant));
    }
    Migrator.TENANT.check(jdbi, schemaOf(tenant));
    return tenant(tenant);
  }

  /** The control schema's own tables. */
  public Db control() {
    return db;
  }

  public SchemaName schemaOf(TenantName tenant) {
    return tenant.schemaUnder(control);
  }

  /** A tenant that is known to exist, without looking. */
  public Tenant tenant(TenantName name) {
    return new Tenant(name, db.of(schemaOf(name)));
  }
}
