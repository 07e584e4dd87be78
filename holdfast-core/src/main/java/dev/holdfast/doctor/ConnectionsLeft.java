package dev.holdfast.doctor;

import dev.holdfast.tenant.Db;

/**
 * Checks that more connections are possible: under the limits of the server, the database and the
 * role.
 */
final class ConnectionsLeft implements Check {

  private static final double MANY = 0.8;
  private static final double TOO_MANY = 0.95;

  private static final String USED =
      """
      SELECT count(*) AS used,
             least(current_setting('max_connections')::int
                     - current_setting('superuser_reserved_connections')::int,
                   (SELECT nullif(datconnlimit, -1)
                      FROM pg_database WHERE datname = current_database()),
                   (SELECT nullif(rolconnlimit, -1)
                      FROM pg_roles WHERE rolname = current_user)) AS most
        FROM pg_stat_activity
       WHERE backend_type = 'client backend'
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
