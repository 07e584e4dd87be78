package dev.holdfast.doctor;

import dev.holdfast.tenant.Db;
import java.util.List;

/** Checks that the settings of the role and the database suit Holdfast. */
final class SessionSettings implements Check {

  // All timeouts are in milliseconds, and 0 is none.
  private static final String IN_THE_WAY =
      """
      SELECT name || ' is ' || setting || coalesce(' ' || unit, '') AS what
        FROM pg_settings
       WHERE (name = 'default_transaction_isolation' AND setting <> 'read committed')
          OR (name = 'idle_session_timeout' AND setting <> '0')
          OR (name = 'transaction_timeout' AND setting <> '0')
          OR (name = 'statement_timeout' AND setting::bigint BETWEEN 1 AND 29999)
          OR (name = 'lock_timeout' AND setting::bigint BETWEEN 1 AND 999)
          OR (name = 'autovacuum' AND setting = 'off')
          OR (name = 'track_counts' AND setting = 'off')
       ORDER BY name
      """;

  private final Db db;

  SessionSettings(Db db) {
    this.db = db;
  }

  @Override
  public String name() {
    return "settings";
  }

  @Override
  public Finding look() {
    List<String> found =
        db.withHandle(handle -> handle.createQuery(IN_THE_WAY).mapTo(String.class).list());
    return found.isEmpty()
        ? Finding.ok(this, "timeouts, isolation and autovacuum fit")
        : Finding.warn(
            this,
            String.join("; ", found),
            "for Holdfast's role: isolation read committed, no timeouts of idle sessions and"
                + " transactions, 30 s or more for statements, 1 s or more for locks, autovacuum"
                + " on");
  }
}
