package dev.holdfast.tenant;

import dev.holdfast.error.HoldfastException;
import java.util.List;

/**
 * Autovacuum at work on the tables of a schema, in the way of those who lock whole tables. It gives
 * way to whoever has waited for it until PostgreSQL looks for deadlocks, but they never wait so
 * long. So this waits in their stead: in vacuum's own mode, behind which nobody else has to wait,
 * and without a lock that others could wait for.
 *
 * <p>It does not give way where it must prevent a wraparound of transaction ids. And a TOAST table,
 * which only those need who drop its table, cannot be locked like this.
 */
record Autovacuum(Db db, SchemaName schema) {

  private static final String TABLES =
      """
      SELECT DISTINCT format('%I.%I', nspname, relname)
        FROM pg_locks
        JOIN pg_class ON pg_class.oid = relation
        JOIN pg_namespace ON pg_namespace.oid = relnamespace
       WHERE nspname = :schema AND relkind = 'r'
         AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
         AND mode = 'ShareUpdateExclusiveLock' AND granted
      """;

  private static final String WAIT_UNTIL_IT_GIVES_WAY =
      """
      SELECT set_config('lock_timeout', (setting::integer + 500)::text, true)
        FROM pg_settings
       WHERE name = 'deadlock_timeout' -- in milliseconds
      """;

  /** Tells it to let go of the tables that it is at. */
  void interrupt() {
    List<String> tables =
        db.withHandle(handle ->
            handle.createQuery(TABLES).bind("schema", schema.value()).mapTo(String.class).list());
    tables.forEach(this::waitFor);
  }

  private void waitFor(String table) {
    try {
      db.useTransaction(handle -> {
        handle.createQuery(WAIT_UNTIL_IT_GIVES_WAY).mapTo(String.class).one();
        handle.execute("LOCK TABLE " + table + " IN SHARE UPDATE EXCLUSIVE MODE");
      });
    } catch (HoldfastException e) {
      // Who has the table does not give way, or it was dropped: whoever wanted it will see.
      if (!SqlErrors.isImpatience(e) && !SqlErrors.isTenantGone(e)) {
        throw e;
      }
    }
  }
}
