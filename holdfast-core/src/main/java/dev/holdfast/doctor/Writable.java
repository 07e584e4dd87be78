package dev.holdfast.doctor;

import dev.holdfast.tenant.Db;

/** Checks that the database takes writes: it is no standby, and not read-only. */
final class Writable implements Check {

  private static final String STATE =
      """
      SELECT pg_is_in_recovery() AS standby,
             current_setting('transaction_read_only') = 'on' AS read_only
      """;

  private final Db db;

  Writable(Db db) {
    this.db = db;
  }

  @Override
  public String name() {
    return "writable";
  }

  @Override
  public Finding look() {
    return db.withHandle(handle ->
        handle
            .createQuery(STATE)
            .map((row, context) -> judged(row.getBoolean("standby"), row.getBoolean("read_only")))
            .one());
  }

  private Finding judged(boolean standby, boolean readOnly) {
    if (standby) {
      return Finding.fail(this, "this is a standby", "use the primary's address");
    }
    return readOnly
        ? Finding.fail(
            this, "transactions are read-only", "set default_transaction_read_only to off")
        : Finding.ok(this, "it takes writes");
  }
}
