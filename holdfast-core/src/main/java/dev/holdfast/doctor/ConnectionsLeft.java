package dev.holdfast.doctor;

import dev.holdfast.tenant.Db;

/**
 * Checks that more connections are possible under each limit: the server's, the database's and the
 * role's. It reports the one that is nearest.
 */
final class ConnectionsLeft implements Check {

  private static final double MANY = 0.8;
  private static final double TOO_MANY = 0.95;

  private static final String USED =
      """
      WITH client AS MATERIALIZED (
        SELECT datname, usename FROM pg_stat_activity WHERE backend_type = 'client backend'
      )
      SELECT used, most
        FROM (SELECT (SELECT count(*) FROM client) AS used,
                     current_setting('max_connections')::int
                       - current_setting('superuser_reserved_connections')::int AS most
              UNION ALL
              SELECT (SELECT count(*) FROM client WHERE client.datname = pg_database.datname),
                     datconnlimit
                FROM pg_database
               WHERE datname = current_database() AND datconnlimit <> -1
              UNION ALL
              SELECT (SELECT count(*) FROM client WHERE client.usename = pg_roles.rolname),
                     rolconnlimit
                FROM pg_roles
               WHERE rolname = current_user AND rolconnlimit <> -1) AS bounded
       ORDER BY used::float8 / greatest(most, 1) DESC
       LIMIT 1
      """;

  private final Db db;

  ConnectionsLeft(Db db) {
    this.db = db;
  }

  @Override
  public String name() {
    return "connections";
  }

  @Override
  public Finding look() {
    return db.withHandle(handle ->
        handle
            .createQuery(USED)
            .map((row, context) -> judged(row.getInt("used"), row.getInt("most")))
            .one());
  }

  Finding judged(int used, int most) {
    String detail = "%d of %d in use".formatted(used, most);
    String remedy = "raise max_connections, or lower --pool-size of the nodes";
    if (used >= most * TOO_MANY) {
      return Finding.fail(this, detail, remedy);
    }
    return used >= most * MANY ? Finding.warn(this, detail, remedy) : Finding.ok(this, detail);
  }
}
