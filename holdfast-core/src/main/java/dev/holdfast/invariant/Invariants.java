package dev.holdfast.invariant;

import dev.holdfast.tenant.Columns;
import dev.holdfast.tenant.Db;
import dev.holdfast.tenant.Tenant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jdbi.v3.core.mapper.RowMapper;

/**
 * Checks the invariants of one tenant. {@code docs/invariants.md} has the rules; the tenant's views
 * {@code invariant_i01…} return what breaks them. Cheap enough to run all the time, and without
 * false alarms while others work in the tenant. Thread-safe.
 */
public final class Invariants {

  private static final List<String> RULES =
      List.of("01", "02", "03", "04", "05", "06", "07", "08", "09", "10", "14", "16", "21");

  // At most a hundred of each rule: one violation alarms as much as a million.
  private static final String CHECK =
      RULES.stream()
          .map(
              """
              (SELECT id, job_id, resource, detail FROM {schema}.invariant_i%s LIMIT 100)
              """
                  ::formatted)
          .collect(Collectors.joining("UNION ALL\n"));

  private static final String DEADLOCKS =
      """
      SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()
      """;

  private static final RowMapper<Violation> VIOLATION =
      (row, context) ->
          new Violation(
              row.getString("id"),
              Optional.ofNullable(row.getObject("job_id", UUID.class)),
              Columns.optionalText(row, "resource"),
              row.getString("detail"));

  private final Db db;
  private final String check;

  public Invariants(Tenant tenant) {
    this.db = tenant.db();
    this.check = tenant.db().sql(CHECK);
  }

  /** The rules that are checked, by the ids of their violations. */
  public static List<String> ids() {
    return RULES.stream().map(rule -> "I" + Integer.parseInt(rule)).toList();
  }

  /** All violations at one moment; empty when there are none. */
  public List<Violation> check() {
    return db.inTransaction(handle -> handle.createQuery(check).map(VIOLATION).list());
  }

  /**
   * I15: how often the server had to break a deadlock, in the whole database and since its
   * statistics were last reset. Other applications that share the database count, too.
   */
  public long deadlocks() {
    return db.withHandle(handle -> handle.createQuery(DEADLOCKS).mapTo(Long.class).one());
  }
}
