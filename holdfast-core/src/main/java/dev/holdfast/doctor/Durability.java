package dev.holdfast.doctor;

import dev.holdfast.tenant.Db;
import java.util.List;

/** Checks that what is committed is on the disk. */
final class Durability implements Check {

  private static final String SETTINGS_OFF =
      """
      SELECT name
        FROM pg_settings
       WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit') AND setting = 'off'
       ORDER BY name
      """;

  private final Db db;

  Durability(Db db) {
    this.db = db;
  }

  @Override
  public String name() {
    return "durability";
  }

  @Override
  public Finding look() {
    List<String> off =
        db.withHandle(handle -> handle.createQuery(SETTINGS_OFF).mapTo(String.class).list());
    return off.isEmpty()
        ? Finding.ok(this, "fsync, full_page_writes and synchronous_commit are on")
        : Finding.fail(
            this,
            String.join(", ", off) + " off: what was acknowledged can be lost",
            "set " + String.join(" and ", off) + " to on");
  }
}
