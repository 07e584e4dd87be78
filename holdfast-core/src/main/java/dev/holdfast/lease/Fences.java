package dev.holdfast.lease;

import dev.holdfast.audit.Act;
import dev.holdfast.audit.Audit;
import dev.holdfast.tenant.Tenant;

/**
 * Raises a tenant's fences after its database was set back: to a backup, or to a standby that had
 * not received everything. Workers may then have fences that the database does not know it granted,
 * and would grant again. It goes on from the time in microseconds instead, which is past all of
 * them: nobody grants a million in a second. And whoever is set back to the same state later goes
 * on from somewhere else. There is room until the year 2255, when the time is 2^53.
 */
public final class Fences {

  /**
   * How far fences are raised that are ahead of the time, because a clock was wrong once: by more
   * than three years of grants at ten thousand a second.
   */
  public static final long LEAP = 1L << 40;

  // A leap only where there is no other way: those who are set back to one state leap equally far.
  private static final String RAISE =
      """
      WITH found AS MATERIALIZED (
        SELECT last_value AS before,
               (extract(epoch FROM {schema}.clock()) * 1000000)::bigint AS micros
          FROM {schema}.fence
      )
      SELECT before,
             setval('{schema}.fence',
                    CASE WHEN micros > before THEN micros ELSE before + :leap END) AS after
        FROM found
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
          Raised raised =
              handle
                  .createQuery(tenant.db().sql(RAISE))
                  .bind("leap", LEAP)
                  .map((row, context) -> new Raised(row.getLong("before"), row.getLong("after")))
                  .one();
          new Audit(tenant)
              .write(
                  handle,
                  act,
                  "raise_fences",
                  "tenant:" + tenant.name(),
                  String.valueOf(raised.before),
                  String.valueOf(raised.after));
          return raised.after;
        });
  }

  private record Raised(long before, long after) {}
}
