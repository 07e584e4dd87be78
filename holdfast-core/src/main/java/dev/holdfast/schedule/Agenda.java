package dev.holdfast.schedule;

import dev.holdfast.tenant.Columns;
import dev.holdfast.tenant.Survey;
import dev.holdfast.tenant.Tenant;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** When something is due, in many tenants. */
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

  /** How long until something is due, of those tenants in which something ever is. */
  static Map<Tenant, Duration> untilNext(List<Tenant> tenants) {
    Map<Tenant, Duration> waits = new HashMap<>();
    AGENDA
        .ask(tenants, (row, context) -> Columns.optionalWait(row, "wait_ms"))
        .forEach(
            (tenant, answer) -> answer.getFirst().ifPresent(known -> waits.put(tenant, known)));
    return waits;
  }
}
