package dev.holdfast.invariant;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.CoreStatement;
import dev.holdfast.tenant.Db;
import dev.holdfast.testkit.TestTenant;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jdbi.v3.core.Handle;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A look at the rules may cost what runs, and never what waits or has finished. */
class InvariantsCostTest {

  private static final Set<String> LARGE =
      Set.of("job", "job_done", "attempt", "job_log", "claim", "audit");
  private static final int RUNNING = 100;
  private static final int OTHERS = 20_000; // of each: queued, parked, finished, their history

  // The latest thousand jobs are looked at. More, and each that runs was compared with each.
  private static final int MOST_ROWS = 3_000;

  @RegisterExtension final TestTenant tenant = new TestTenant();

  /** When the planner made its plan. */
  enum Planned {
    BEFORE_THERE_WERE_JOBS,
    BEFORE_ANYBODY_COUNTED_THEM,
    AFTER_SOMEBODY_COUNTED_THEM
  }

  @ParameterizedTest
  @EnumSource
  void a_look_reads_few_rows_of_the_large_tables(Planned planned) throws SQLException {
    tenant
        .query(
            "SELECT relname FROM pg_class WHERE relnamespace = '{schema}'::regnamespace AND relkind = 'r'")
        .forEach(table ->
            tenant.execute(
                "ALTER TABLE {schema}.%s SET (autovacuum_enabled = false)"
                    .formatted(table.get("relname"))));

    Map<String, Double> read =
        tenant.tenant().db().jdbi().inTransaction(handle -> read(handle, planned));

    assertThat(read).isNotEmpty();
    assertThat(read.values()).as("rows read, by node: %s", read).allMatch(rows -> rows < MOST_ROWS);
    assertThat(tenant.invariants().check()).isEmpty();
  }

  private Map<String, Double> read(Handle handle, Planned planned) throws SQLException {
    CoreStatement check = CoreStatement.named(Invariants.class, "CHECK");
    String prepare = tenant.tenant().db().sql(check.prepare("look"));
    try (Statement statement = handle.getConnection().createStatement()) {
      Db.continueAsOurs(handle);
      handle.execute("SET LOCAL idle_in_transaction_session_timeout = 0"); // filling takes a while
      if (planned == Planned.BEFORE_THERE_WERE_JOBS) {
        statement.execute(prepare);
        statement.execute("EXECUTE look");
        fill();
      } else {
        fill();
        if (planned == Planned.AFTER_SOMEBODY_COUNTED_THEM) {
          tenant.execute(
              """
              ANALYZE {schema}.job, {schema}.job_done, {schema}.hold, {schema}.resource,
                      {schema}.attempt, {schema}.job_log, {schema}.claim, {schema}.audit
              """);
        }
        statement.execute(prepare);
      }
      try (ResultSet plan = statement.executeQuery("EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE look")) {
        plan.next();
        Map<String, Double> read = new TreeMap<>();
        collect(JsonMapper.shared().readTree(plan.getString(1)).get(0).get("Plan"), read);
        return read;
      } finally {
        statement.execute("DEALLOCATE look");
      }
    }
  }

  private static void collect(JsonNode node, Map<String, Double> read) {
    String table = node.path("Relation Name").asString("");
    if (LARGE.contains(table)) {
      double rows =
          node.path("Actual Rows").asDouble(0)
              + node.path("Rows Removed by Filter").asDouble(0)
              + node.path("Rows Removed by Index Recheck").asDouble(0);
      read.merge(
          node.path("Node Type").asString("") + " on " + node.path("Alias").asString(""),
          rows * node.path("Actual Loops").asDouble(0),
          Math::max);
    }
    node.path("Plans").forEach(child -> collect(child, read));
  }

  // A site and a target for each that runs, and whoever else needs them waits.
  private void fill() {
    tenant.execute(
        """
        INSERT INTO {schema}.lane (queue, kind, priority, host, host_required, labels, guarded)
        SELECT 'default', 'any', 0, '', false, '{}', guarded FROM (VALUES (false), (true)) AS g (guarded);

        INSERT INTO {schema}.resource (name)
        SELECT 'target:' || i FROM generate_series(0, %1$d - 1) AS i;

        INSERT INTO {schema}.job (id, lane, run_at, args)
        SELECT gen_random_uuid(), (SELECT min(id) FROM {schema}.lane), now(), '{}'
          FROM generate_series(1, %2$d) AS i;

        INSERT INTO {schema}.job
               (id, lane, run_at, args, state, worker, started_at, lease_expires_at, attempt, fence,
                resources, target)
        SELECT gen_random_uuid(), (SELECT max(id) FROM {schema}.lane), now(), '{}', 'running', 'w',
               now(), now(), 1, nextval('{schema}.fence'), ARRAY ['target:' || i], i
          FROM generate_series(0, %1$d - 1) AS i;

        INSERT INTO {schema}.hold (resource, job_id, fence, since)
        SELECT resources[1], id, fence, now() FROM {schema}.job WHERE worker IS NOT NULL;

        INSERT INTO {schema}.job
               (id, lane, run_at, args, resources, target, waiting_on, waiting_since)
        SELECT gen_random_uuid(), (SELECT max(id) FROM {schema}.lane), now(), '{}',
               ARRAY ['target:' || i %% %1$d], i %% %1$d, 'target:' || i %% %1$d, now()
          FROM generate_series(1, %2$d) AS i;

        INSERT INTO {schema}.job_done
               (id, seq, fence, run_at, created_at, finished_at, lane, attempt, failures, granted,
                state, args, error_code, error_message)
        SELECT gen_random_uuid(), i, 1, now(), now(), now(), (SELECT min(id) FROM {schema}.lane), 1,
               0, 0, 'failed', '{}', 'E', 'e'
          FROM generate_series(1, %2$d) AS i;

        INSERT INTO {schema}.attempt (job_id, fence, number, started_at, finished_at, worker, outcome)
        SELECT gen_random_uuid(), 1, 1, now(), now(), 'w', 'failed' FROM generate_series(1, %2$d);

        INSERT INTO {schema}.job_log (job_id, fence, at, line, ends)
        SELECT gen_random_uuid(), 1, now(), 'line', 5 FROM generate_series(1, %2$d);

        INSERT INTO {schema}.claim (claim_id, worker, fences, claimed_at)
        SELECT i, 'w', ARRAY [i], now() FROM generate_series(1, %2$d) AS i;

        INSERT INTO {schema}.audit (at, actor, act, job_id, after)
        SELECT now(), 'ada', 'cancel', gen_random_uuid(), 'cancelled' FROM generate_series(1, %2$d)
        """
            .formatted(RUNNING, OTHERS));
  }
}
