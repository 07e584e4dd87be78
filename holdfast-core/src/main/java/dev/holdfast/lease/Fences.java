package dev.holdfast.lease;

import dev.holdfast.audit.Act;
import dev.holdfast.audit.Audit;
import dev.holdfast.tenant.Tenant;

/**
 * Raises a tenant's fences after its database was set back: to a backup, or to a standby that had
 * not received everything. Workers may then have fences that the database does not know it granted,
 * and would grant again. A leap larger than any loss takes it past all of them.
 */
public final class Fences {

  /**
   * How far fences are raised: by more than three years of grants at ten thousand a second. There
   * is room for eight thousand such leaps.
   */
  public static final long LEAP = 1L << 40;

  private static final String RAISE =
      """
      SELECT setval('{schema}.fence', last_value + :leap) FROM {schema}.fence
      """;

  private Fences() {}

  /**
   * Raises the fences. A rollback does not undo this, as with every draw of a fence.
   *
   * @return the last fence that counts as drawn now
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
