package dev.holdfast.doctor;

import dev.holdfast.tenant.Tenants;
import java.util.List;

/** Checks that no table has many dead rows. */
final class DeadRows implements Check {

  // Five times as many as the job table may have before it is vacuumed.
  private static final long MANY = 100_000;

  private static final String WORST =
      """
      SELECT schemaname || '.' || relname || ': ' || n_dead_tup || ' dead, ' || n_live_tup || ' live' AS what
        FROM pg_stat_user_tables
       WHERE schemaname = ANY (:schemas) AND n_dead_tup > :many AND n_dead_tup > n_live_tup
       ORDER BY n_dead_tup DESC
       LIMIT 3
      """;

  private final Tenants tenants;
  private final long many;

  DeadRows(Tenants tenants) {
    this(tenants, MANY);
  }

  DeadRows(Tenants tenants, long many) {
    this.tenants = tenants;
    this.many = many;
  }

  @Override
  public String name() {
    return "dead rows";
  }

  @Override
  public Finding look() {
    List<String> schemas =
        tenants.list().stream().map(name -> tenants.schemaOf(name).value()).toList();
    List<String> worst =
        tenants
            .control()
            .withHandle(handle ->
                handle
                    .createQuery(WORST)
                    .bindArray("schemas", String.class, schemas)
                    .bind("many", many)
                    .mapTo(String.class)
                    .list());
    return worst.isEmpty()
        ? Finding.ok(this, "no table has many")
        : Finding.warn(
            this,
            String.join("; ", worst),
            "see that no transaction is old and autovacuum keeps up; VACUUM the table");
  }
}
