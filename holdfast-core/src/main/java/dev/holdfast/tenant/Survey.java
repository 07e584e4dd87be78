package dev.holdfast.tenant;

import dev.holdfast.error.HoldfastException;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.mapper.RowMapper;
import org.jdbi.v3.core.statement.Query;
import org.jdbi.v3.core.statement.StatementContext;
import org.jdbi.v3.core.statement.StatementCustomizer;
import org.postgresql.PGStatement;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A query over many tenants, fifty of them with one statement: a thousand would otherwise be a
 * thousand statements. Thread-safe.
 */
public final class Survey {

  private static final Logger log = LoggerFactory.getLogger(Survey.class);

  private static final int ASKED_AT_ONCE = 50;

  // The server takes ten times as long to plan this as to answer it, and driver and server begin to
  // keep a plan only after some ten runs.
  private static final String PLAN_ONCE = "SET LOCAL plan_cache_mode = force_generic_plan";

  private final String compact;
  private volatile List<Group> groups = List.of();

  private record Group(List<Tenant> tenants, String sql) {}

  /**
   * A survey that asks one question.
   *
   * @param question a query for one tenant, with {@code '{schema}' AS schema_name}. This is the
   *     only kind of statement that is put together from pieces: whole copies of this query.
   */
  public Survey(String question) {
    // The driver limits how many characters of prepared statements it keeps.
    this.compact = question.replaceAll("--[^\\n]*", "").replaceAll("\\s+", " ").strip();
  }

  /** The rows of those tenants that have any. */
  public <R> Map<Tenant, List<R>> ask(List<Tenant> tenants, RowMapper<R> answer) {
    return ask(tenants, query -> query, answer);
  }

  /**
   * The rows of those tenants that have any.
   *
   * @param bind binds the parameters of the query
   */
  public <R> Map<Tenant, List<R>> ask(
      List<Tenant> tenants, UnaryOperator<Query> bind, RowMapper<R> answer) {
    Asked<R> asked = new Asked<>(bind, answer);
    groups(tenants).forEach(asked::together);
    return asked.answers;
  }

  private List<Group> groups(List<Tenant> tenants) {
    List<Group> known = groups;
    if (!known.stream().flatMap(group -> group.tenants.stream()).toList().equals(tenants)) {
      known = new ArrayList<>();
      for (int from = 0; from < tenants.size(); from += ASKED_AT_ONCE) {
        known.add(group(tenants.subList(from, Math.min(from + ASKED_AT_ONCE, tenants.size()))));
      }
      groups = List.copyOf(known);
    }
    return known;
  }

  private Group group(List<Tenant> tenants) {
    return new Group(
        List.copyOf(tenants),
        tenants.stream()
            .map(tenant -> tenant.db().sql(compact))
            .collect(Collectors.joining(" UNION ALL ")));
  }

  /** One run of the survey. */
  private final class Asked<R> {

    private final UnaryOperator<Query> bind;
    private final RowMapper<R> answer;
    private final Map<Tenant, List<R>> answers = new HashMap<>();

    Asked(UnaryOperator<Query> bind, RowMapper<R> answer) {
      this.bind = bind;
      this.answer = answer;
    }

    // A tenant that fails, for example because it was dropped meanwhile, must not hide the others.
    void together(Group group) {
      try {
        ask(group);
      } catch (HoldfastException e) {
        if (SqlErrors.isPassing(e)) {
          throw e;
        }
        group.tenants.forEach(this::alone);
      }
    }

    private void alone(Tenant tenant) {
      try {
        ask(group(List.of(tenant)));
      } catch (HoldfastException e) {
        if (SqlErrors.isPassing(e)) {
          throw e;
        }
        if (!SqlErrors.isTenantGone(e)) {
          log.warn("Could not ask tenant {}", tenant.name(), e);
        }
      }
    }

    private void ask(Group group) {
      Db db = group.tenants.getFirst().db();
      if (group.tenants.size() == 1) {
        db.useHandle(handle -> read(group, handle.createQuery(group.sql)));
      } else {
        db.useTransaction(handle -> read(group, plannedOnce(handle, group.sql)));
      }
    }

    private void read(Group group, Query query) {
      Map<String, Tenant> bySchema = new HashMap<>();
      group.tenants.forEach(tenant -> bySchema.put(tenant.db().schema().value(), tenant));
      bind.apply(query)
          .map((row, context) ->
              answers
                  .computeIfAbsent(
                      bySchema.get(row.getString("schema_name")), tenant -> new ArrayList<>())
                  .add(answer.map(row, context)))
          .list();
    }
  }

  private static Query plannedOnce(Handle handle, String sql) {
    handle.execute(PLAN_ONCE);
    return handle.createQuery(sql).addCustomizer(new PreparedAtOnce());
  }

  private static final class PreparedAtOnce implements StatementCustomizer {

    @Override
    public void beforeExecution(PreparedStatement statement, StatementContext context)
        throws SQLException {
      PGStatement ours = statement.unwrap(PGStatement.class);
      if (ours.getPrepareThreshold() > 0) { // 0 is set behind a pooler that shares sessions
        ours.setPrepareThreshold(1);
      }
    }
  }
}
