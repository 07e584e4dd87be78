package dev.holdfast.tenant;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/**
 * The tenants of one database: each an isolated set of jobs in a schema of its own. Thread-safe.
 * Creating, migrating and dropping need DDL rights; everything else does not.
 */
public final class Tenants implements AutoCloseable {

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

  private static final String HOLD =
      """
      SELECT name FROM {schema}.tenant WHERE name = :name FOR SHARE
      """;

  private static final String LIST =
      """
      SELECT name FROM {schema}.tenant ORDER BY name
      """;

  // Workers of the dropped tenant may still run, and their fences must not be valid in a later
  // tenant of the same name. A draw from a sequence is not stopped by a lock, so the leap covers
  // the fences that are drawn until the sequence is dropped.
  private static final String REMEMBER_FENCE =
      """
      INSERT INTO {schema}.dropped_tenant (name, fence)
      VALUES (:name, coalesce(pg_sequence_last_value(:sequence::regclass), 0) + :leap)
      ON CONFLICT (name) DO UPDATE
         SET fence = greatest(dropped_tenant.fence, excluded.fence), dropped_at = now()
      """;

  // A database that was set back may have had tenants that it no longer knows of.
  static final String ANY = "*"; // no tenant's name

  private static final String GO_ON_FROM =
      """
      SELECT setval(:sequence::regclass,
                    greatest(max(fence), pg_sequence_last_value(:sequence::regclass)))
        FROM {schema}.dropped_tenant
       WHERE name IN (:name, :any)
      HAVING count(*) > 0
      """;

  // As those of the tenants that exist (lease.Fences).
  private static final String RAISE_FENCES =
      """
      WITH moment AS (
        SELECT (extract(epoch FROM now()) * 1000000)::bigint AS micros
      ), known AS (
        UPDATE {schema}.dropped_tenant
           SET fence = CASE WHEN micros > fence THEN micros ELSE fence + :leap END
          FROM moment
         WHERE name <> :any
      )
      INSERT INTO {schema}.dropped_tenant (name, fence)
      SELECT :any, greatest(micros, :leap) FROM moment
      ON CONFLICT (name) DO UPDATE
         SET fence = CASE WHEN excluded.fence > dropped_tenant.fence THEN excluded.fence
                          ELSE dropped_tenant.fence + :leap END
      """;

  private static final long FENCE_LEAP = 1_000_000;

  private final PoolConnections connections;
  private final Db db;
  private final SchemaName control;
  private final Isolation isolation = new Isolation();

  private volatile @Nullable Pooling pooling;

  public Tenants(DataSource dataSource, SchemaName control) {
    this.connections = new PoolConnections(dataSource);
    this.control = control;
    this.db = Db.on(connections, control);
  }

  private Tenants(PoolConnections connections, SchemaName control, KeptConnection kept) {
    this.connections = connections;
    this.control = control;
    this.db = Db.on(kept, control);
  }

  /** The same tenants, for a worker's loops; see {@link #keepConnection}. */
  public Tenants keepingAConnection() {
    return new Tenants(connections, control, new KeptConnection(connections));
  }

  /**
   * Takes a connection now and keeps it between uses until this is closed, so that handlers that
   * use up the pool cannot silence the worker.
   */
  public void keepConnection() {
    if (db.connections() instanceof KeptConnection kept) {
      kept.keep();
      db.useHandle(Handle::getConnection);
    }
  }

  @Override
  public void close() throws SQLException {
    if (db.connections() instanceof KeptConnection kept) {
      kept.close();
    }
  }

  /**
   * Creates or upgrades the control tables and every tenant's; any number of nodes may call this at
   * once.
   */
  public void migrate() {
    checkConnections();
    Migrator.CONTROL.migrate(db, control);
    list().forEach(tenant -> retries(tenant).use(handle -> migrateIfThere(handle, tenant)));
  }

  // The lock on its row keeps the tenant from being dropped meanwhile; a tenant that was dropped is
  // not created again.
  private void migrateIfThere(Handle handle, TenantName tenant) {
    boolean isThere =
        handle
            .createQuery(control.render(HOLD))
            .bind("name", tenant.value())
            .mapTo(String.class)
            .findOne()
            .isPresent();
    if (isThere) {
      Migrator.TENANT.migrate(handle, schemaOf(tenant));
    }
  }

  /** Creates the tenant if it does not exist. */
  public Tenant create(TenantName tenant) {
    createIfAbsent(tenant, handle -> {});
    return tenant(tenant);
  }

  /**
   * Creates the tenant if it does not exist.
   *
   * @param whenNew called in the same transaction, if the tenant is new
   * @return whether the tenant is new
   */
  public boolean createIfAbsent(TenantName tenant, Consumer<Handle> whenNew) {
    return retries(tenant).run(handle -> createNow(handle, tenant, whenNew));
  }

  private boolean createNow(Handle handle, TenantName tenant, Consumer<Handle> whenNew) {
    Migrator.TENANT.migrate(handle, schemaOf(tenant));
    boolean isNew =
        handle
                .createUpdate(control.render(REGISTER))
                .bind("name", tenant.value())
                .bind("schema_name", schemaOf(tenant).value())
                .execute()
            == 1;
    if (isNew) {
      goOnFromDropped(handle, tenant);
      // A heartbeat may have come with the end of the one before.
      new Namesakes(control).forgetWorkers(handle, tenant);
      whenNew.accept(handle);
    }
    return isNew;
  }

  private void goOnFromDropped(Handle handle, TenantName tenant) {
    handle
        .createQuery(control.render(GO_ON_FROM))
        .bind("sequence", fence(tenant))
        .bind("name", tenant.value())
        .bind("any", ANY)
        .mapTo(Long.class)
        .findOne();
  }

  /**
   * Whether a tenant of this name was dropped, or may have been: a database that was set back does
   * not know all that it had.
   */
  public boolean hadNamesake(Handle handle, TenantName tenant) {
    return new Namesakes(control).had(handle, tenant);
  }

  /**
   * Raises the fences from which tenants go on that do not exist now.
   *
   * @param leap how far, where they are ahead of the time
   */
  public void raiseFencesOfOthers(long leap) {
    // A backup of an earlier version may have no table of them yet. A control schema that is up to
    // date is left alone: creating what is there takes rights that not everybody has.
    if (Migrator.CONTROL.version(db, control).isBehind()) {
      Migrator.CONTROL.migrate(db, control);
    }
    db.useHandle(handle ->
        handle
            .createUpdate(control.render(RAISE_FENCES))
            .bind("leap", leap)
            .bind("any", ANY)
            .execute());
  }

  /**
   * Grants a role what it needs at run time on all tables that exist now: access to rows, no DDL.
   */
  public void grantTo(SchemaName role) {
    db.useHandle(handle -> {
      handle.createScript(Migrator.grants(control, role)).execute();
      list()
          .forEach(
              tenant -> handle.createScript(Migrator.grants(schemaOf(tenant), role)).execute());
    });
  }

  /** Deletes the tenant and everything in it. Throws {@code NOT_FOUND} if it does not exist. */
  public void drop(TenantName tenant) {
    drop(tenant, handle -> {});
  }

  /**
   * Deletes the tenant and everything in it. Throws {@code NOT_FOUND} if it does not exist.
   *
   * @param also called in the same transaction
   */
  public void drop(TenantName tenant, Consumer<Handle> also) {
    retries(tenant).use(handle -> dropNow(handle, tenant, also));
  }

  // Transactions in the tenant have locked some of its tables and may wait for those that this one
  // has locked. It waits for the next table only this long and then releases all of them, before
  // the server would detect a deadlock.
  private void dropNow(Handle handle, TenantName tenant, Consumer<Handle> also) {
    handle.execute("SET LOCAL lock_timeout = '100ms'");
    int removed =
        handle.createUpdate(control.render(UNREGISTER)).bind("name", tenant.value()).execute();
    if (removed == 0) {
      throw new HoldfastException(ErrorCode.NOT_FOUND, "no tenant '" + tenant + "'");
    }
    rememberFence(handle, tenant);
    new Namesakes(control).forgetWorkers(handle, tenant);
    handle.execute("DROP SCHEMA " + schemaOf(tenant).value() + " CASCADE");
    also.accept(handle);
  }

  private LockRetries retries(TenantName tenant) {
    return new LockRetries(db, schemaOf(tenant));
  }

  private String fence(TenantName tenant) {
    return schemaOf(tenant).value() + ".fence";
  }

  private void rememberFence(Handle handle, TenantName tenant) {
    handle
        .createUpdate(control.render(REMEMBER_FENCE))
        .bind("name", tenant.value())
        .bind("sequence", fence(tenant))
        .bind("leap", FENCE_LEAP)
        .execute();
  }

  public List<TenantName> list() {
    return db.withHandle(handle ->
        handle
            .createQuery(control.render(LIST))
            .map((row, context) -> new TenantName(row.getString("name")))
            .list());
  }

  /**
   * An existing tenant.
   *
   * @throws HoldfastException with {@code NOT_FOUND} if it does not exist, {@code SCHEMA_MISMATCH}
   *     if this version cannot work with its tables, {@code BAD_CONFIG} if the pool's connections
   *     cannot be used
   */
  public Tenant open(TenantName tenant) {
    checkConnections();
    if (!Migrator.TENANT.exists(db, schemaOf(tenant))) {
      throw new HoldfastException(
          ErrorCode.NOT_FOUND,
          "no tenant '%s'; tenants().create() makes one, migrate() the default one"
              .formatted(tenant));
    }
    Migrator.TENANT.version(db, schemaOf(tenant)).require();
    return tenant(tenant);
  }

  private void checkConnections() {
    isolation.check(db);
    Pooling unused = pooling();
  }

  /**
   * Whether a pooler is between this process and the database; found out once. Throws {@code
   * BAD_CONFIG} for a pooler that cannot work.
   */
  public Pooling pooling() {
    Pooling known = pooling;
    if (known == null) {
      known = Pooling.of(connections);
      known.check(connections);
      pooling = known;
    }
    return known;
  }

  /** The versions of the tables: the control schema's, then every tenant's. */
  public List<SchemaVersion> versions() {
    List<SchemaVersion> versions = new ArrayList<>();
    versions.add(Migrator.CONTROL.version(db, control));
    list().forEach(tenant -> versions.add(Migrator.TENANT.version(db, schemaOf(tenant))));
    return versions;
  }

  /** Throws, naming the remedy, unless this version can work with the control schema's tables. */
  public void requireControl() {
    Migrator.CONTROL.version(db, control).require();
  }

  /** The control schema's own tables. */
  public Db control() {
    return db;
  }

  public SchemaName schemaOf(TenantName tenant) {
    return tenant.schemaUnder(control);
  }

  /** A tenant, without checking that it exists. */
  public Tenant tenant(TenantName name) {
    return new Tenant(name, db.of(schemaOf(name)));
  }
}
