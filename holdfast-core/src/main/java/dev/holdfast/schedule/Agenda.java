package dev.holdfast.schedule;

import dev.holdfast.tenant.Columns;
import dev.holdfast.tenant.Survey;
import dev.holdfast.tenant.Tenant;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Finds out when the next schedule is due, in many tenants at once. */
final class Agenda {

  private static final String UNTIL_NEXT =
      """
      SELECT '{schema}' AS schema_name,
             extract(epoch FROM min(next_at) - {schema}.clock()) * 1000 AS wait_ms
        FROM {schema}.schedule
       WHERE next_at IS NOT NULL
      """;

  private static final Survey AGENDA = new Survey(UNTIL_NEXT);

  private Agenda() {}

  /** How long until the next schedule is due, for each tenant that has an enabled schedule. */
  static Map<Tenant, Duration> untilNext(List<Tenant> tenants) {
    Map<Tenant, Duration> waits = new HashMap<>();
    AGENDA
        .ask(tenants, (row, context) -> Columns.optionalWait(row, "wait_ms"))
        .forEach(
            (tenant, answer) -> answer.getFirst().ifPresent(known -> waits.put(tenant, known)));
    return waits;
  }
}
