package dev.holdfast.doctor;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.tenant.Db;

/** Checks that the database answers, and that Holdfast supports its version. */
final class ServerVersion implements Check {

  private static final int OLDEST = 150_000;

  private static final String VERSION =
      """
      SELECT current_setting('server_version_num')::int AS number,
             current_setting('server_version') AS name
      """;

  private final Db db;

  ServerVersion(Db db) {
    this.db = db;
  }

  @Override
  public String name() {
    return "database";
  }

  @Override
  public Finding look() {
    try {
      return db.withHandle(handle ->
          handle
              .createQuery(VERSION)
              .map((row, context) -> judged(row.getInt("number"), row.getString("name")))
              .one());
    } catch (HoldfastException e) {
      return Finding.fail(
          this,
          "cannot be reached: " + e.getMessage(),
          "see that it runs, and that address, user and password are right");
    }
  }

  private Finding judged(int number, String name) {
    return number < OLDEST
        ? Finding.fail(this, "PostgreSQL " + name, "use PostgreSQL 15 or later")
        : Finding.ok(this, "PostgreSQL " + name);
  }
}
