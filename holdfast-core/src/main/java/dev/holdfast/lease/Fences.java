package dev.holdfast.lease;

import dev.holdfast.audit.Act;
import dev.holdfast.audit.Audit;
import dev.holdfast.tenant.Tenant;

/**
 * A tenant's fences after its database was set back: from a backup, or to a standby that had not
 * heard of everything. Workers are about that have fences which the database does not know to have
 * granted, and would grant again. A leap that no loss can reach takes it past all of them.
 */
public final class Fences {

  /**
   * How far. At ten thousand grants a second more than three years of them; and of such leaps there
   * is room for eight thousand.
   */
  public static final long LEAP = 1L << 40;

  private static final String RAISE =
      """
      SELECT setval('{schema}.fence', last_value + :leap) FROM {schema}.fence
      """;

  private Fences() {}

  /**
   * Leaps. Not undone with a transaction, like every draw of a fence.
   *
   * @return where it got to
   */
  public static long raise(Tenant tenant, Act act) {
    return tenant
        .db()
        .inTransaction(handle -> {
          long raised =
              handle.createQuery(tenant.db().sql(RAISE)).bind("leap", LEAP).mapTo(Long.class).one();
          new Audit(tenant)
              .write(
                  handle,
                  act,
                  "raise_fences",
                  "tenant:" + tenant.name(),
                  String.valueOf(raised - LEAP),
                  String.valueOf(raised));
          return raised;
        });
  }
}
