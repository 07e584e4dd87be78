package dev.holdfast.doctor;

import dev.holdfast.tenant.Db;
import java.util.List;

/**
 * Checks that no replication slot is abandoned: the server keeps its log for such a slot until the
 * disk is full.
 */
final class ReplicationSlots implements Check {

  private static final String ABANDONED =
      """
      SELECT slot_name || ' keeps ' || (pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn) / 1048576)::bigint
               || ' MB' AS what
        FROM pg_replication_slots
       WHERE NOT active AND restart_lsn IS NOT NULL
         AND pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn) > 1073741824
       ORDER BY slot_name
      """;

  private final Db db;

  ReplicationSlots(Db db) {
    this.db = db;
  }

  @Override
  public String name() {
    return "replication slots";
  }

  @Override
  public Finding look() {
    List<String> abandoned =
        db.withHandle(handle -> handle.createQuery(ABANDONED).mapTo(String.class).list());
    return abandoned.isEmpty()
        ? Finding.ok(this, "none is abandoned")
        : Finding.warn(
            this,
            String.join("; ", abandoned),
            "let its reader catch up, or SELECT pg_drop_replication_slot('…')");
  }
}
