package dev.holdfast.tenant;

import dev.holdfast.error.HoldfastException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jdbi.v3.core.mapper.RowMapper;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Asks many tenants the same question, fifty of them with one statement. */
public final class Survey {

  private static final Logger log = LoggerFactory.getLogger(Survey.class);

  private static final int ASKED_AT_ONCE = 50;

  private Survey() {}

  /**
   * The answers of those who have one.
   *
   * @param question for one tenant, of at most one row, with {@code '{schema}' AS schema_name}: the
   *     one kind of statement that is put together, from this whole piece
   */
  public static <R> Map<Tenant, R> ask(List<Tenant> tenants, String question, RowMapper<R> answer) {
    Map<Tenant, R> answers = new HashMap<>();
    for (int from = 0; from < tenants.size(); from += ASKED_AT_ONCE) {
      List<Tenant> group = tenants.subList(from, Math.min(from + ASKED_AT_ONCE, tenants.size()));
      answers.putAll(askTogether(group, question, answer));
    }
    return answers;
  }

  // One that cannot be asked, say because it was dropped just now, must not hide the others.
  private static <R> Map<Tenant, R> askTogether(
      List<Tenant> group, String question, RowMapper<R> answer) {
    try {
      return askGroup(group, question, answer);
    } catch (HoldfastException e) {
      if (SqlErrors.isPassing(e)) {
        throw e;
      }
      Map<Tenant, R> answers = new HashMap<>();
      group.forEach(tenant -> answers.putAll(askAlone(tenant, question, answer)));
      return answers;
    }
  }

  private static <R> Map<Tenant, R> askAlone(Tenant tenant, String question, RowMapper<R> answer) {
    try {
      return askGroup(List.of(tenant), question, answer);
    } catch (HoldfastException e) {
      if (SqlErrors.isPassing(e)) {
        throw e;
      }
      if (!SqlErrors.isTenantGone(e)) {
        log.warn("Could not ask tenant {}", tenant.name(), e);
      }
      return Map.of();
    }
  }

  private static <R> Map<Tenant, R> askGroup(
      List<Tenant> group, String question, RowMapper<R> answer) {
    Map<String, Tenant> bySchema = new HashMap<>();
    group.forEach(tenant -> bySchema.put(tenant.db().schema().value(), tenant));
    String sql =
        group.stream()
            .map(tenant -> tenant.db().sql(question))
            .collect(Collectors.joining(" UNION ALL "));
    Map<Tenant, R> answers = new HashMap<>();
    group
        .getFirst()
        .db()
        .useHandle(handle ->
            handle
                .createQuery(sql)
                .map((row, context) -> {
                  Tenant tenant = bySchema.get(row.getString("schema_name"));
                  return tenant == null || answers.put(tenant, answer.map(row, context)) == null;
                })
                .list());
    return answers;
  }
}
