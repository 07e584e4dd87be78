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
 * A question to many tenants, fifty of them with one statement: a thousand would otherwise be a
 * thousand statements. Thread-safe.
 */
public final class Survey {

  private static final Logger log = LoggerFactory.getLogger(Survey.class);

  private static final int ASKED_AT_ONCE = 50;

  // To plan it takes the server ten times as long as to answer it, and driver and server together
  // begin to keep a plan only after some ten times.
  private static final String PLAN_ONCE = "SET LOCAL plan_cache_mode = force_generic_plan";

  private final String compact;
  private volatile List<Group> groups = List.of();

  private record Group(List<Tenant> tenants, String sql) {}

  /**
   * One question.
   *
   * @param question for one tenant, with {@code '{schema}' AS schema_name}: the one kind of
   *     statement that is put together, from this whole piece
   */
  public Survey(String question) {
    // Drivers keep only so many characters of what they have prepared.
    this.compact = question.replaceAll("--[^\\n]*", "").replaceAll("\\s+", " ").strip();
  }

  /** The answers of those who have any. */
  public <R> Map<Tenant, List<R>> ask(List<Tenant> tenants, RowMapper<R> answer) {
    return ask(tenants, query -> query, answer);
  }

  /**
   * The answers of those who have any.
   *
   * @param bind gives the question its parameters
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

  /** One time that it is asked. */
  private final class Asked<R> {

    private final UnaryOperator<Query> bind;
    private final RowMapper<R> answer;
    private final Map<Tenant, List<R>> answers = new HashMap<>();

    Asked(UnaryOperator<Query> bind, RowMapper<R> answer) {
      this.bind = bind;
      this.answer = answer;
    }

    // One that cannot be asked, say because it was dropped just now, must not hide the others.
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
      if (ours.getPrepareThreshold() > 0) { // 0: a pooler would hand it to another connection
        ours.setPrepareThreshold(1);
      }
    }
  }
}
