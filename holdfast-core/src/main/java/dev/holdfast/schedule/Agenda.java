package dev.holdfast.schedule;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.tenant.Columns;
import dev.holdfast.tenant.Db;
import dev.holdfast.tenant.SqlErrors;
import dev.holdfast.tenant.Tenant;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Asks many tenants at once when something of theirs is due. */
final class Agenda {

  private static final Logger log = LoggerFactory.getLogger(Agenda.class);

  private static final int ASKED_AT_ONCE = 50;

  // Put together once per group of tenants, from this whole piece.
  private static final String UNTIL_NEXT =
      """
      SELECT '{schema}' AS schema_name,
             extract(epoch FROM min(next_at) - {schema}.clock()) * 1000 AS wait_ms
        FROM {schema}.schedule
       WHERE next_at IS NOT NULL
      """;

  private Agenda() {}

  /** How long until something is due, of those tenants in which something ever is. */
  static Map<Tenant, Duration> untilNext(List<Tenant> tenants) {
    Map<Tenant, Duration> waits = new HashMap<>();
    for (int from = 0; from < tenants.size(); from += ASKED_AT_ONCE) {
      List<Tenant> group = tenants.subList(from, Math.min(from + ASKED_AT_ONCE, tenants.size()));
      waits.putAll(askTogether(group));
    }
    return waits;
  }

  // One that cannot be asked, say because it was dropped just now, must not hide the others.
  private static Map<Tenant, Duration> askTogether(List<Tenant> group) {
    try {
      return ask(group);
    } catch (HoldfastException e) {
      if (SqlErrors.isPassing(e)) {
        throw e;
      }
      Map<Tenant, Duration> waits = new HashMap<>();
      group.forEach(tenant -> waits.putAll(askAlone(tenant)));
      return waits;
    }
  }

  private static Map<Tenant, Duration> askAlone(Tenant tenant) {
    try {
      return ask(List.of(tenant));
    } catch (HoldfastException e) {
      if (SqlErrors.isPassing(e)) {
        throw e;
      }
      if (!SqlErrors.isTenantGone(e)) {
        log.warn("Could not ask tenant {} what is due", tenant.name(), e);
      }
      return Map.of();
    }
  }

  private static Map<Tenant, Duration> ask(List<Tenant> group) {
    Map<String, Tenant> bySchema = new HashMap<>();
    group.forEach(tenant -> bySchema.put(tenant.db().schema().value(), tenant));
    String sql =
        group.stream()
            .map(tenant -> tenant.db().sql(UNTIL_NEXT))
            .collect(Collectors.joining(" UNION ALL "));
    Db any = group.getFirst().db();
    Map<Tenant, Duration> waits = new HashMap<>();
    record Row(String schema, Optional<Duration> untilNext) {}
    List<Row> rows =
        any.withHandle(handle ->
            handle
                .createQuery(sql)
                .map((row, context) ->
                    new Row(row.getString("schema_name"), Columns.optionalWait(row, "wait_ms")))
                .list());
    for (Row row : rows) {
      Tenant tenant = bySchema.get(row.schema);
      if (tenant != null && row.untilNext.isPresent()) {
        waits.put(tenant, row.untilNext.get());
      }
    }
    return waits;
  }
}
