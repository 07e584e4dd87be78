package dev.holdfast.tenant;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.job.NewJob;
import dev.holdfast.testkit.TestTenant;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Rows that contradict themselves cannot be stored, whoever writes them. */
class ConstraintsTest {

  @RegisterExtension final TestTenant tenant = new TestTenant();

  /** A change to a sound row that breaks one rule and no other. */
  enum Broken {
    RUNNING_WITHOUT_EXPIRY("job_lease_belongs_to_state", "state = 'running', worker = 'w'"),
    STOPPING_WITHOUT_LEASE("job_lease_belongs_to_state", "state = 'stopping'"),
    DISPATCHED_WITHOUT_LEASE("job_lease_belongs_to_state", "state = 'dispatched'"),
    QUEUED_WITH_EXPIRY("job_lease_belongs_to_state", "lease_expires_at = now()"),
    QUEUED_WITH_LEASE("job_lease_belongs_to_state", "worker = 'w', lease_expires_at = now()"),
    PAUSED_WITH_LEASE(
        "job_lease_belongs_to_state", "state = 'paused', worker = 'w', lease_expires_at = now()"),
    RESOURCE_FOR_NOBODY("resource_has_capacity", "capacity = 0"),
    LANE_OF_ANOTHER_TENANT("lane_is_of_this_tenant", "lane = -1"),
    LIVE_JOB_IN_THE_HISTORY("job_done_is_finished", "state = 'queued'"),
    FAILED_WITHOUT_ERROR("job_done_failed_says_why", "state = 'failed'"),
    FINISHED_WITHOUT_MESSAGE("job_done_error_is_whole", "error_code = 'BROKEN'"),
    FINISHED_WITHOUT_CODE("job_done_error_is_whole", "error_message = 'broken'"),
    ATTEMPT_WITHOUT_WORKER("job_done_attempt_is_whole", "attempt_outcome = 'succeeded'"),
    ATTEMPT_WITHOUT_OUTCOME("job_done_attempt_is_whole", "worker = 'w', started_at = now()"),
    ATTEMPT_WITHOUT_START(
        "job_done_attempt_is_whole", "attempt_outcome = 'succeeded', worker = 'w'"),
    ATTEMPT_ERROR_WITHOUT_MESSAGE("attempt_error_is_whole", "error_code = 'BROKEN'"),
    SCHEDULE_WITH_TWO_TRIGGERS("schedule_has_one_trigger", "every_ms = 1000"),
    SCHEDULE_WITHOUT_A_TRIGGER("schedule_has_one_trigger", "cron = NULL"),
    ENABLED_FOR_NEVER("schedule_goes_on_while_enabled", "next_at = NULL"),
    DISABLED_AND_DUE("schedule_goes_on_while_enabled", "enabled = false"),
    SLOT_THAT_IS_NOTHING("slot_status_is_known", "status = 'maybe', reason = 'r'"),
    RUNNING_SLOT_WITHOUT_A_START("slot_running_was_started", "status = 'running'"),
    SLOT_THAT_FAILED_FOR_NO_REASON("slot_says_why", "status = 'failed'"),
    KIND_THAT_NOTHING_RUNS("kind_executor_check", "executor = 'hope'"),
    NODE_AT_NO_PORT("node_port_check", "port = 0"),
    A_SECOND_REGISTRY("agent_registry_id_check", "id = 2"),
    QUEUE_WITHOUT_ROOM("queue_concurrency_limit_check", "concurrency_limit = 0");

    private final String constraint;
    private final String change;

    Broken(String constraint, String change) {
      this.constraint = constraint;
      this.change = change;
    }

    String table() {
      return Stream.of(
              "agent_registry",
              "resource",
              "queue",
              "attempt",
              "job_done",
              "schedule",
              "slot",
              "kind",
              "node")
          .filter(constraint::startsWith)
          .findFirst()
          .orElse("job");
    }
  }

  private static Map<String, String> sound(String table) {
    Map<String, String> row = new LinkedHashMap<>();
    if (table.equals("queue") || table.equals("resource")) {
      row.put("name", "'mail'");
      return row;
    }
    if (table.equals("agent_registry")) {
      row.put("digest", "'d'");
      return row;
    }
    if (table.equals("kind")) {
      row.put("name", "'deploy'");
      return row;
    }
    if (table.equals("node")) {
      row.put("id", "'7'");
      row.put("host", "'10.0.0.7'");
      return row;
    }
    if (table.equals("schedule")) {
      row.put("name", "'brief'");
      row.put("cron", "'@daily'");
      row.put("timezone", "'UTC'");
      row.put("dst_twice", "'once'");
      row.put("dst_missing", "'shift'");
      row.put("kind", "'brief'");
      row.put("queue", "'default'");
      row.put("priority", "0");
      row.put("args", "'{}'");
      row.put("policy", "'{}'");
      row.put("resources", "'{}'");
      row.put("\"coalesce\"", "true");
      row.put("misfire_grace_ms", "1000");
      row.put("max_instances", "1");
      row.put("expected_runtime_ms", "1000");
      row.put("enabled", "true");
      row.put("next_at", "now()");
      return row;
    }
    if (table.equals("slot")) {
      row.put("schedule", "'brief'");
      row.put("scheduled_for", "now()");
      row.put("status", "'queued'");
      row.put("decided_at", "now()");
      return row;
    }
    if (table.equals("attempt")) {
      row.put("job_id", "gen_random_uuid()");
      row.put("fence", "1");
      row.put("number", "1");
      row.put("started_at", "now()");
      row.put("finished_at", "now()");
      row.put("worker", "'w'");
      row.put("outcome", "'failed'");
      return row;
    }
    row.put("id", "gen_random_uuid()");
    row.put("lane", "(SELECT min(id) FROM {schema}.lane)");
    row.put("run_at", "now()");
    row.put("created_at", "now()");
    row.put("args", "'{}'");
    if (table.equals("job")) {
      row.put("state", "'queued'");
    } else {
      row.put("state", "'succeeded'");
      row.put("finished_at", "now()");
      row.put("seq", "1");
      row.put("fence", "1");
      row.put("attempt", "1");
      row.put("failures", "0");
      row.put("granted", "0");
    }
    return row;
  }

  private static String insert(String table, Map<String, String> row) {
    return "INSERT INTO {schema}.%s (%s) VALUES (%s)"
        .formatted(table, String.join(", ", row.keySet()), String.join(", ", row.values()));
  }

  @BeforeEach
  void makeALaneToStandIn() {
    tenant.jobs().enqueue(NewJob.of("any", 1));
    tenant.execute("DELETE FROM {schema}.job");
    tenant.execute("DELETE FROM {schema}.agent_registry"); // it has one row from its birth
  }

  @ParameterizedTest
  @EnumSource
  void a_row_that_breaks_a_rule_is_refused(Broken broken) {
    tenant.execute(insert(broken.table(), sound(broken.table())));

    assertThatThrownBy(
            () -> tenant.execute("UPDATE {schema}." + broken.table() + " SET " + broken.change))
        .rootCause()
        .hasMessageContaining("violates check constraint \"" + broken.constraint + "\"");
  }

  @Test
  void every_check_constraint_has_a_row_that_breaks_it() {
    var checks =
        tenant.query(
            """
            SELECT conname FROM pg_constraint
             WHERE connamespace = '{schema}'::regnamespace AND contype = 'c'
            """);

    assertThat(checks)
        .extracting(check -> check.get("conname"))
        .containsExactlyInAnyOrderElementsOf(
            Arrays.stream(Broken.values())
                .map(broken -> broken.constraint)
                .collect(Collectors.toSet()));
  }

  @Test
  void an_id_is_stored_once_among_the_live_and_once_in_the_history() {
    Map<String, String> job = sound("job");
    job.put("id", "'01990000-0000-7000-8000-000000000001'");
    tenant.execute(insert("job", job));
    Map<String, String> done = sound("job_done");
    done.put("id", "'01990000-0000-7000-8000-000000000001'");
    tenant.execute(insert("job_done", done));

    assertThatThrownBy(() -> tenant.execute(insert("job", job)))
        .rootCause()
        .hasMessageContaining("job_pkey");
    assertThatThrownBy(() -> tenant.execute(insert("job_done", done)))
        .rootCause()
        .hasMessageContaining("job_done_pkey");
  }

  @Test
  void a_unique_key_is_stored_once_within_its_scope() {
    Map<String, String> job = sound("job");
    job.put("unique_key", "'k'");
    job.put("unique_scope", "'tenant'");
    tenant.execute(insert("job", job));

    assertThatThrownBy(() -> tenant.execute(insert("job", job)))
        .rootCause()
        .hasMessageContaining("job_unique_key");
    job.put("unique_scope", "'queue:default'");
    tenant.execute(insert("job", job));
  }
}
