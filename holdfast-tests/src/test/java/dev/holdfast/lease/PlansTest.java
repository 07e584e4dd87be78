package dev.holdfast.lease;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.CoreStatement;
import dev.holdfast.lease.FilledTables.Data;
import dev.holdfast.tenant.Db;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.testkit.TestTenant;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jdbi.v3.core.Handle;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The statements that run all day must not read whole tables, whatever the planner believes about
 * their contents. A driver keeps a prepared statement's plan, so one that was made for an empty
 * table is still in use when fifty thousand jobs have arrived.
 */
@DisabledIfSystemProperty(
    named = TestDatabase.BOUNCER_PROPERTY,
    matches = "true",
    disabledReason = "It tells a session how to plan what is prepared in it.")
class PlansTest {

  @RegisterExtension final TestTenant tenant = new TestTenant();

  /** How the server plans a prepared statement: for these values, or for any. */
  enum Mode {
    GENERIC,
    CUSTOM
  }

  private static final List<CoreStatement> HOT =
      List.of(
          CoreStatement.named(Claims.class, "CLAIM"),
          CoreStatement.named(Beats.class, "EXTEND"),
          CoreStatement.named(Successes.class, "SUCCEED"),
          CoreStatement.named(Transitions.class, "FINISH"),
          CoreStatement.named("dev.holdfast.reap.OverdueAttempts", "OVERDUE"),
          CoreStatement.named("dev.holdfast.reap.Outlook", "LOOK"),
          CoreStatement.named("dev.holdfast.queue.JobInsert", "INSERT"),
          CoreStatement.named("dev.holdfast.queue.Enqueuer", "EXISTING"),
          CoreStatement.named(TenantRotation.class, "HAS_WORK"));

  private static final List<CoreStatement> HOT_IN_TRANSACTIONS =
      List.of(
          CoreStatement.named(Claims.class, "CLAIM"),
          CoreStatement.named(Transitions.class, "FINISH"),
          CoreStatement.named(Transitions.class, "SEND_BACK"),
          CoreStatement.named(Stops.class, "STOPPING"),
          CoreStatement.named("dev.holdfast.reap.OverdueAttempts", "LOCK_OVERDUE"),
          CoreStatement.named(ContestedClaims.class, "CANDIDATES"),
          CoreStatement.named(ContestedClaims.class, "LOCK_JOBS"),
          CoreStatement.named(ContestedClaims.class, "GRANT"),
          CoreStatement.named("dev.holdfast.hold.Holds", "LOCK"),
          CoreStatement.named("dev.holdfast.hold.Holds", "RELEASE"),
          CoreStatement.named("dev.holdfast.hold.Waiting", "ROOMS"),
          CoreStatement.named("dev.holdfast.hold.Waiting", "TURNS"),
          CoreStatement.named("dev.holdfast.hold.Waiting", "PARK"),
          CoreStatement.named("dev.holdfast.hold.Waiting", "WAKE"),
          CoreStatement.named("dev.holdfast.hold.Waiting", "WAITED_FOR"),
          CoreStatement.named("dev.holdfast.slot.Slots", "FOLLOW"),
          CoreStatement.named(RepeatableClaims.class, "RENEW"),
          CoreStatement.named(Reports.class, "PROGRESS"));

  @ParameterizedTest
  @EnumSource
  void hot_statements_reach_jobs_by_their_index(Data data) throws SQLException {
    new FilledTables(tenant).fill(data);

    Map<String, String> bad = tenant.tenant().db().jdbi().withHandle(this::badPlans);

    assertThat(bad).isEmpty();
  }

  private Map<String, String> badPlans(Handle handle) throws SQLException {
    Map<String, String> bad = new TreeMap<>();
    try {
      for (Mode mode : Mode.values()) {
        handle.execute("SET plan_cache_mode = force_" + mode + "_plan");
        judge(handle, mode, HOT, bad);
        handle.useTransaction(transaction -> {
          Db.continueAsOurs(transaction);
          judge(transaction, mode, HOT_IN_TRANSACTIONS, bad);
        });
      }
    } finally {
      handle.execute("RESET plan_cache_mode"); // the connection is a pooled one
    }
    return bad;
  }

  private void judge(
      Handle handle, Mode mode, List<CoreStatement> statements, Map<String, String> bad)
      throws SQLException {
    for (CoreStatement statement : statements) {
      List<String> wrong = PlanFaults.in(statement, explain(handle, statement, "JSON"));
      if (!wrong.isEmpty()) {
        bad.put(mode + " " + statement, wrong + "\n" + explain(handle, statement, "TEXT"));
      }
    }
  }

  private String explain(Handle handle, CoreStatement hot, String format) throws SQLException {
    String values =
        hot.parameters().stream().map(PlansTest::value).collect(Collectors.joining(", "));
    try (Statement statement = handle.getConnection().createStatement()) {
      statement.execute(tenant.tenant().db().sql(hot.prepare("hot")));
      StringBuilder plan = new StringBuilder();
      try (ResultSet lines =
          statement.executeQuery("EXPLAIN (FORMAT " + format + ") EXECUTE hot (" + values + ")")) {
        while (lines.next()) {
          plan.append(lines.getString(1)).append('\n');
        }
      }
      statement.execute("DEALLOCATE hot");
      return plan.toString();
    }
  }

  /** What a busy worker with two hundred free permits would bind. */
  private static String value(String parameter) {
    return switch (parameter) {
      case "job_ids" ->
          array(number -> "'" + FilledTables.jobId(FilledTables.JOBS - number) + "'", "uuid[]");
      case "fences" -> array(number -> "7", "bigint[]");
      case "lanes", "seqs" -> array(number -> "1", "bigint[]");
      case "states" -> array(number -> "'succeeded'", "text[]");
      case "outcomes" -> array(number -> "'failed'", "text[]");
      case "failures", "refunds" -> array(number -> "0", "integer[]");
      case "delays_ms" -> array(number -> "0", "bigint[]");
      case "error_codes", "error_messages", "log_excerpts", "results" ->
          array(number -> "NULL", "text[]");
      case "names", "resources" -> array(number -> "'site:" + number + "'", "text[]");
      case "after" -> "''";
      case "queues" -> "ARRAY['default']";
      case "kinds" -> "ARRAY['kind_0', 'kind_1', 'kind_2', 'kind_3']";
      case "labels", "online_hosts", "at_lanes", "at_run_ats", "at_seqs" -> "'{}'";
      case "any_kind", "limited" -> "false";
      case "limit" -> "200";
      case "host", "worker" -> "'host'";
      case "default_lease_ms", "default_timeout_ms", "lease_ms", "preference_ms" -> "30000";
      case "id", "job_id" -> "'" + FilledTables.jobId(FilledTables.JOBS) + "'";
      case "fence" -> "7";
      default -> "NULL";
    };
  }

  private static String array(IntFunction<String> element, String type) {
    return IntStream.range(0, 200)
        .mapToObj(element)
        .collect(Collectors.joining(", ", "ARRAY[", "]::" + type));
  }
}
