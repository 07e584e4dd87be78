package dev.holdfast.lease;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.CoreStatement;
import dev.holdfast.tenant.Db;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.testkit.TestTenant;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jdbi.v3.core.Handle;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

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

  private static final int JOBS = 50_000;
  private static final double COMPILED_AT_COST = 100_000; // jit_above_cost, by default

  @RegisterExtension final TestTenant tenant = new TestTenant();

  /** What is in the tables, and what the planner was last told about them. */
  enum Data {
    /** A new tenant. Its job table was counted when it was made. */
    EMPTY,
    /** Waiting, running and finished jobs, and statistics that say so. */
    FULL,
    /** The first jobs of a new tenant, before anybody counted them. */
    FULL_BUT_NOT_YET_COUNTED,
    /** Counted while nothing ran; now something does. */
    ANALYZED_BEFORE_ANY_RAN,
    /** Counted while full; now all jobs are in the history. */
    DRAINED,
    /** Counted while there was nothing to count: one row is expected whatever is asked. */
    ANALYZED_EMPTY,
    /** Counted while two jobs held something; thousands have since, and nobody cleaned up. */
    HELD_AND_LET_GO
  }

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
          CoreStatement.named(OverdueAttempts.class, "OVERDUE"),
          CoreStatement.named(Outlook.class, "LOOK"),
          CoreStatement.named("dev.holdfast.queue.JobInsert", "INSERT"),
          CoreStatement.named("dev.holdfast.queue.Enqueuer", "EXISTING"),
          CoreStatement.named(TenantRotation.class, "HAS_WORK"));

  private static final List<CoreStatement> HOT_IN_TRANSACTIONS =
      List.of(
          CoreStatement.named(Claims.class, "CLAIM"),
          CoreStatement.named(Transitions.class, "FINISH"),
          CoreStatement.named(Transitions.class, "SEND_BACK"),
          CoreStatement.named(Stops.class, "STOPPING"),
          CoreStatement.named(OverdueAttempts.class, "LOCK_OVERDUE"),
          CoreStatement.named(GuardedClaims.class, "CANDIDATES"),
          CoreStatement.named(GuardedClaims.class, "LOCK_JOBS"),
          CoreStatement.named(GuardedClaims.class, "GRANT"),
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

  // Which indexes may lead a statement to the rows of job.
  private static final Map<String, Set<String>> INDEXES =
      Map.of(
          "Claims.CLAIM", Set.of("job_claimable", "job_pkey", "job_leased"),
          "Beats.EXTEND", Set.of("job_pkey"),
          "Successes.SUCCEED", Set.of("job_pkey"),
          "Transitions.FINISH", Set.of("job_pkey"),
          "Transitions.SEND_BACK", Set.of("job_pkey"),
          "OverdueAttempts.OVERDUE", Set.of("job_leased"),
          "Outlook.LOOK", Set.of("job_leased", "job_waiting"),
          "TenantRotation.HAS_WORK", Set.of("job_claimable"));

  @ParameterizedTest
  @EnumSource
  void hot_statements_reach_jobs_by_their_index(Data data) throws SQLException {
    fill(data);

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
      List<String> wrong = faults(statement, explain(handle, statement, "JSON"));
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

  private static List<String> faults(CoreStatement statement, String json) {
    List<String> faults = new ArrayList<>();
    JsonNode plan = JsonMapper.shared().readTree(json).get(0).get("Plan");
    if (plan.path("Total Cost").asDouble() >= COMPILED_AT_COST) {
      faults.add("seems so expensive that the server compiles it, every time");
    }
    nodes(plan)
        .forEach(node -> {
          String type = node.path("Node Type").asString("");
          String table = node.path("Relation Name").asString("");
          if (type.equals("Seq Scan") && grows(table)) {
            faults.add("reads all of " + table);
          }
          if ((type.equals("Hash Join") || type.equals("Merge Join")) && joinsAllJobs(node)) {
            faults.add(type + " over job");
          }
          // The others lock one by one before they write; these lock as they meet the rows.
          if (type.equals("Bitmap Heap Scan")
              && table.equals("job")
              && Set.of("Successes.SUCCEED", "Transitions.FINISH", "Waiting.WAKE")
                  .contains(statement.toString())) {
            faults.add("takes row locks in the order of pages, not of ids");
          }
          String index = node.path("Index Name").asString("");
          if (index.equals("job_pkey") && !node.has("Index Cond")) {
            faults.add("walks all of job_pkey");
          }
          Set<String> allowed = INDEXES.get(statement.toString());
          if (allowed != null && index.startsWith("job_") && !allowed.contains(index)) {
            faults.add("uses " + index);
          }
          if (index.equals("job_waiting") && node.path("Index Cond").asString("").contains("ANY")) {
            faults.add("reads all who wait for some resources");
          }
          if (index.equals("job_claimable")
              && !node.path("Index Cond").asString("").contains("lane")) {
            faults.add("walks job_claimable across lanes");
          }
        });
    return faults;
  }

  private static boolean grows(String table) {
    return Set.of("job", "job_done", "resource", "hold").contains(table);
  }

  // A join may well take the few rows that an index found; what it must not do is take them all.
  private static boolean joinsAllJobs(JsonNode join) {
    return children(join)
        .flatMap(PlansTest::nodes)
        .anyMatch(node ->
            node.path("Relation Name").asString("").equals("job")
                && !node.has("Index Cond")
                && !node.has("Recheck Cond")
                // All that run: as many as the workers have permits, whatever waits beside them.
                && !node.path("Index Name").asString("").equals("job_leased")
                && node.path("Node Type").asString("").endsWith("Scan"));
  }

  private static Stream<JsonNode> nodes(JsonNode plan) {
    return Stream.concat(Stream.of(plan), children(plan).flatMap(PlansTest::nodes));
  }

  private static Stream<JsonNode> children(JsonNode plan) {
    List<JsonNode> plans = new ArrayList<>();
    plan.path("Plans").forEach(plans::add);
    return plans.stream();
  }

  /** What a busy worker with two hundred free permits would bind. */
  private static String value(String parameter) {
    return switch (parameter) {
      case "job_ids" -> array(number -> "'" + jobId(JOBS - number) + "'", "uuid[]");
      case "fences" -> array(number -> "7", "bigint[]");
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
      case "id", "job_id" -> "'" + jobId(JOBS) + "'";
      case "fence" -> "7";
      default -> "NULL";
    };
  }

  private static String array(IntFunction<String> element, String type) {
    return IntStream.range(0, 200)
        .mapToObj(element)
        .collect(Collectors.joining(", ", "ARRAY[", "]::" + type));
  }

  private static String jobId(int number) {
    return "01990000-0000-7000-8000-%012x".formatted(number);
  }

  private void fill(Data data) {
    // The server must not count behind our back.
    Stream.of("job", "job_done", "lane", "attempt", "resource", "hold")
        .forEach(table ->
            tenant.execute("ALTER TABLE {schema}." + table + " SET (autovacuum_enabled = false)"));
    switch (data) {
      case EMPTY -> {}
      case FULL -> {
        addJobs();
        run(200);
        analyze();
      }
      case FULL_BUT_NOT_YET_COUNTED -> {
        addJobs();
        run(200);
      }
      case ANALYZED_BEFORE_ANY_RAN -> {
        addJobs();
        analyze();
        run(5_000);
      }
      case DRAINED -> {
        addJobs();
        analyze();
        finishAll();
      }
      case ANALYZED_EMPTY -> analyze();
      case HELD_AND_LET_GO -> {
        hold(2);
        tenant.execute("VACUUM ANALYZE {schema}.hold, {schema}.resource");
        hold(6_000);
        tenant.execute("DELETE FROM {schema}.hold WHERE fence > 2");
        tenant.execute("DELETE FROM {schema}.resource WHERE length(name) > length('site:2')");
      }
    }
  }

  private void hold(int sites) {
    tenant.execute(
        """
        INSERT INTO {schema}.resource (name)
        SELECT 'site:' || i FROM generate_series(1, %d) AS i ON CONFLICT DO NOTHING
        """
            .formatted(sites));
    tenant.execute(
        """
        INSERT INTO {schema}.hold (resource, job_id, fence, since)
        SELECT 'site:' || i, gen_random_uuid(), i, now() FROM generate_series(1, %d) AS i
        """
            .formatted(sites));
  }

  private void addJobs() {
    tenant.execute(
        """
        INSERT INTO {schema}.lane (queue, kind, priority, host, host_required, labels, guarded)
        SELECT 'default', 'kind_' || i, 0, '', false, '{}', false FROM generate_series(0, 3) AS i
        """);
    tenant.execute(
        """
        INSERT INTO {schema}.job (id, lane, state, run_at, created_at, args)
        SELECT ('01990000-0000-7000-8000-' || lpad(to_hex(i), 12, '0'))::uuid,
               (SELECT min(id) FROM {schema}.lane) + i %% 4, 'queued',
               now() - interval '1 day' + i * interval '1 second', now(), '{"a": 1}'
          FROM generate_series(1, %d) AS i
        """
            .formatted(JOBS));
    tenant.execute(
        """
        INSERT INTO {schema}.job_done
               (id, seq, fence, run_at, created_at, finished_at, lane, attempt, failures, granted,
                state, args)
        SELECT ('01980000-0000-7000-8000-' || lpad(to_hex(i), 12, '0'))::uuid, i, 1, now(), now(),
               now(), (SELECT min(id) FROM {schema}.lane) + i %% 4, 1, 0, 0, 'succeeded', '{"a": 1}'
          FROM generate_series(1, %d) AS i
        """
            .formatted(JOBS));
  }

  private void run(int jobs) {
    tenant.execute(
        """
        UPDATE {schema}.job
           SET state = 'running', fence = 7, worker = 'worker', started_at = now(),
               lease_expires_at = now() + interval '1 minute'
         WHERE id IN (SELECT id FROM {schema}.job ORDER BY id DESC LIMIT %d)
        """
            .formatted(jobs));
  }

  private void analyze() {
    tenant.execute("ANALYZE {schema}.job, {schema}.job_done, {schema}.lane, {schema}.attempt");
  }

  private void finishAll() {
    tenant.execute(
        """
        WITH gone AS (DELETE FROM {schema}.job RETURNING *)
        INSERT INTO {schema}.job_done
               (id, seq, fence, run_at, created_at, finished_at, lane, attempt, failures, granted,
                state, args)
        SELECT id, seq, 1, run_at, created_at, now(), lane, 1, 0, 0, 'succeeded', args FROM gone
        """);
  }
}
