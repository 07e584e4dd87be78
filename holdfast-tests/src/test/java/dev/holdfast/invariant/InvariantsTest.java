package dev.holdfast.invariant;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.job.Failure;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Outcome;
import dev.holdfast.job.Policy.OnFailure;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.job.RetryPolicy;
import dev.holdfast.lease.ClaimRequest;
import dev.holdfast.lease.Lease;
import dev.holdfast.testkit.TestTenant;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What the engine never writes is found when somebody else does. */
class InvariantsTest {

  @RegisterExtension final TestTenant tenant = new TestTenant();

  private final AtWork at = new AtWork(tenant);
  private final Map<String, UUID> jobs = new HashMap<>();

  /** Changes to a sound tenant, and which rules they break. Names in braces are jobs. */
  enum Broken {
    LEASED_BY_NOBODY("I1 I21", "UPDATE {schema}.job SET worker = NULL WHERE id = {plain}"),
    OWNED_WITHOUT_A_LEASE("I1 I10", "UPDATE {schema}.job SET worker = 'w' WHERE id = {free}"),
    FINISHED_JOB_AMONG_THE_LIVE(
        "I21", "UPDATE {schema}.job SET state = 'failed' WHERE id = {free}"),
    STATE_NOBODY_KNOWS("I21", "UPDATE {schema}.job SET state = 'asleep' WHERE id = {free}"),
    LEASED_FOR_EVER(
        "I1",
        """
        ALTER TABLE {schema}.job DROP CONSTRAINT job_lease_belongs_to_state;
        UPDATE {schema}.job SET lease_expires_at = NULL WHERE id = {plain}
        """),
    LIMITED_WHILE_NOBODY_RUNS_IT(
        "I21", "UPDATE {schema}.job SET times_out_at = now() WHERE id = {paused}"),
    RUNNING_TO_END_AS_PAUSED(
        "I21", "UPDATE {schema}.job SET stop_as = 'paused' WHERE id = {plain}"),
    STOPPING_TO_END_AS_A_SUCCESS(
        "I21",
        "UPDATE {schema}.job SET state = 'stopping', stop_as = 'succeeded' WHERE id = {plain}"),
    SUBJECT_WITHOUT_ID("I21", "UPDATE {schema}.job SET subject_type = 'site' WHERE id = {plain}"),
    ERROR_CODE_WITHOUT_MESSAGE(
        "I21", "UPDATE {schema}.job SET error_code = 'E', error_message = NULL WHERE id = {plain}"),
    ERROR_MESSAGE_WITHOUT_CODE(
        "I21", "UPDATE {schema}.job SET error_message = 'e', error_code = NULL WHERE id = {plain}"),
    UNIQUE_KEY_WITHOUT_SCOPE("I21", "UPDATE {schema}.job SET unique_key = 'k' WHERE id = {plain}"),
    UNIQUE_SCOPE_WITHOUT_KEY(
        "I21", "UPDATE {schema}.job SET unique_scope = 'tenant' WHERE id = {plain}"),
    TARGET_THAT_IT_DOES_NOT_NEED("I21", "UPDATE {schema}.job SET target = 't' WHERE id = {plain}"),
    PARKED_WHILE_PAUSED("I21", "UPDATE {schema}.job SET state = 'paused' WHERE id = {waits}"),
    PARKED_ON_WHAT_IT_DOES_NOT_NEED(
        "I21", "UPDATE {schema}.job SET resources = '{site:2}' WHERE id = {waits}"),
    PARKED_THOUGH_IT_NEEDS_NOTHING(
        "I21", "UPDATE {schema}.job SET resources = NULL WHERE id = {waits}"),
    LEASED_WITHOUT_A_FENCE("I1", "UPDATE {schema}.job SET fence = 0 WHERE id = {plain}"),
    HOLDS_UNDER_TWO_FENCES(
        "I1 I3",
        """
        INSERT INTO {schema}.resource (name) VALUES ('site:2');
        UPDATE {schema}.job SET resources = '{site:1,site:2}' WHERE id = {runs};
        INSERT INTO {schema}.hold
        SELECT 'site:2', job_id, fence - n, since
          FROM {schema}.hold, (VALUES (0), (1)) AS extra (n)
         WHERE job_id = {runs}
        """),
    FENCE_THAT_WAS_NEVER_GIVEN("I2", "UPDATE {schema}.job SET fence = 1000 WHERE id = {plain}"),
    FENCES_FROM_THE_START_AGAIN("I2", "SELECT setval('{schema}.fence', 1)"),
    ATTEMPT_NEWER_THAN_ITS_JOB(
        "I2", "UPDATE {schema}.attempt SET fence = fence + 100 WHERE job_id = {retried}"),
    HOLD_NEWER_THAN_ITS_JOB(
        "I2",
        """
        INSERT INTO {schema}.hold
        VALUES ('site:1', {runs}, 1000, '-infinity', now() + interval '1 minute')
        """),
    HELD_UNDER_ANOTHER_FENCE(
        "I3 I6", "UPDATE {schema}.hold SET fence = fence - 1 WHERE job_id = {runs}"),
    ENDED_AND_STILL_LEASED(
        "I3",
        """
        INSERT INTO {schema}.attempt (job_id, fence, number, started_at, finished_at, worker, outcome)
        SELECT id, fence, 1, now(), now(), worker, 'released' FROM {schema}.job WHERE id = {plain}
        """),
    LOGGED_BY_WHO_LOST_THE_LEASE(
        "I3",
        """
        INSERT INTO {schema}.job_log (job_id, fence, at, line, ends)
        SELECT id, fence - n, now(), 'late', 5 * (n + 1) FROM {schema}.job, (VALUES (0), (1)) AS line (n)
         WHERE id = {retried}
         ORDER BY n
        """),
    BACK_FROM_THE_HISTORY_BY_NOBODY(
        "I4",
        """
        INSERT INTO {schema}.job (id, lane, created_at, args)
        SELECT id, lane, created_at, args FROM {schema}.job_done WHERE id = {cancelled};
        DELETE FROM {schema}.job_done WHERE id = {cancelled}
        """),
    MORE_ATTEMPTS_GRANTED_BY_NOBODY("I4", "UPDATE {schema}.job SET granted = 1 WHERE id = {plain}"),
    ATTEMPT_GONE_FROM_THE_HISTORY("I4", "DELETE FROM {schema}.attempt WHERE job_id = {retried}"),
    LIVE_AND_FINISHED(
        "I5",
        """
        INSERT INTO {schema}.job_done
               (id, seq, fence, run_at, created_at, finished_at, lane, attempt, failures, granted,
                state, args)
        SELECT id, seq, fence, run_at, created_at, now(), lane, 1, 0, 0, 'succeeded', args
          FROM {schema}.job
         WHERE id = {plain}
        """),
    LET_IN_WHERE_IT_WAS_FULL(
        "I6",
        """
        UPDATE {schema}.job
           SET state = 'running', worker = 'late', attempt = 1, started_at = now(),
               lease_expires_at = now(), fence = nextval('{schema}.fence'), waiting_on = NULL
         WHERE id = {waits};
        INSERT INTO {schema}.hold
        SELECT 'site:1', id, fence, {schema}.clock() FROM {schema}.job WHERE id = {waits}
        """),
    RUNS_WITHOUT_ITS_RESOURCE("I6 I14", "DELETE FROM {schema}.hold WHERE job_id = {runs}"),
    RUNS_WHILE_ITS_RESOURCE_PASSES_ON(
        "I6",
        "UPDATE {schema}.hold SET passes_at = now() + interval '1 hour' WHERE job_id = {runs}"),
    HELD_BY_WHO_WAITS("I6", "INSERT INTO {schema}.hold VALUES ('site:1', {waits}, 0, '-infinity')"),
    HELD_BY_NOBODY(
        "I6", "INSERT INTO {schema}.hold VALUES ('site:1', gen_random_uuid(), 0, '-infinity')"),
    HELD_BY_WHO_DOES_NOT_NEED_IT(
        "I6",
        """
        INSERT INTO {schema}.hold
        SELECT 'site:1', id, fence, '-infinity' FROM {schema}.job WHERE id = {plain}
        """),
    HELD_AND_NEVER_COUNTED("I6", "DELETE FROM {schema}.resource WHERE name = 'site:1'"),
    BLOCKED_BY_WHO_RUNS(
        "I7", "INSERT INTO {schema}.block VALUES ('target:line', {first}, 'paused', 'ada', now())"),
    BLOCKED_BY_NOBODY("I7", "UPDATE {schema}.block SET job_id = gen_random_uuid()"),
    MORE_BLOCKED_THAN_THE_TARGET(
        "I7", "INSERT INTO {schema}.block VALUES ('site:2', {paused}, 'paused', 'ada', now())"),
    UNBLOCKED_BY_NOBODY("I7", "DELETE FROM {schema}.block WHERE job_id = {failed}"),
    RESERVED_FOR_WHO_RUNS(
        "I7", "INSERT INTO {schema}.reservation VALUES ('site:1', {runs}, true, now())"),
    RAN_BEFORE_THE_FIRST_IN_LINE(
        "I8",
        """
        UPDATE {schema}.job
           SET run_at = run_at - interval '1 hour',
               waiting_since = waiting_since - interval '1 minute'
         WHERE id = {second}
        """),
    MORE_ATTEMPTS_THAN_THE_DEFAULT("I10", "UPDATE {schema}.job SET attempt = 4 WHERE id = {plain}"),
    MORE_ATTEMPTS_THAN_THE_JOB_SAYS(
        "I10",
        """
        UPDATE {schema}.job SET attempt = 6, policy = '{"max_attempts": 5}' WHERE id = {plain}
        """),
    LOST_ATTEMPT_THAT_COST_NOTHING(
        "I10", "UPDATE {schema}.job SET attempt = failures WHERE id = {retried}"),
    NOBODY_WOKEN_WHERE_THERE_IS_ROOM(
        "I14",
        """
        INSERT INTO {schema}.resource (name) VALUES ('site:2');
        UPDATE {schema}.job SET resources = '{site:2}', waiting_on = 'site:2' WHERE id = {waits}
        """),
    FIRST_IN_LINE_NOT_WOKEN(
        "I14", "UPDATE {schema}.resource SET capacity = 2 WHERE name = 'target:line'"),
    SLOT_WITHOUT_ITS_JOB(
        "I9",
        """
        INSERT INTO {schema}.slot (schedule, scheduled_for, status, job_id, decided_at)
        VALUES ('brief', now(), 'queued', gen_random_uuid(), now())
        """),
    RUNS_FOR_A_SLOT_THAT_IS_OVER(
        "I9",
        """
        INSERT INTO {schema}.slot (schedule, scheduled_for, status, job_id, decided_at)
        VALUES ('brief', now(), 'ran', {plain}, now())
        """),
    TWO_WITH_A_UNIQUE_KEY(
        "I16",
        """
        DROP INDEX {schema}.job_unique_key;
        CREATE INDEX job_unique_key ON {schema}.job (unique_key);
        UPDATE {schema}.job SET unique_scope = 'tenant', unique_key = 'k'
         WHERE id IN ({plain}, {waits})
        """),
    NOTHING_KEEPS_IDS_UNIQUE("I16", "ALTER TABLE {schema}.job DROP CONSTRAINT job_pkey"),
    FENCE_OF_TWO_WORKERS(
        "I16",
        """
        UPDATE {schema}.job
           SET worker = 'other', fence = (SELECT fence FROM {schema}.job WHERE id = {runs})
         WHERE id = {plain}
        """),
    FENCE_THAT_ANSWERS_TWO_CLAIMS(
        "I16",
        """
        INSERT INTO {schema}.claim VALUES ('a', 'w', '{1,2}', now()), ('b', 'w', '{2,3}', now())
        """);

    private final String ids;
    private final String sql;

    Broken(String ids, String sql) {
      this.ids = ids;
      this.sql = sql;
    }

    List<String> ids() {
      return List.of(ids.split(" ", -1));
    }
  }

  @BeforeEach
  void work() {
    NewJob any = NewJob.of("any", 1);
    PolicyOverrides atOnce =
        PolicyOverrides.NONE.withRetry(new RetryPolicy.Delays(List.of(Duration.ofMillis(1))));
    jobs.put("retried", at.enqueue(any.withPolicy(atOnce)));
    at.finish(at.claimOne(), Outcome.failed(Failure.retryable("E", "e")));
    tenant.advance(Duration.ofSeconds(1));
    jobs.put("cancelled", at.enqueue(any));
    tenant.acts().cancel(jobs.get("cancelled"), AtWork.ADA);
    PolicyOverrides hold = PolicyOverrides.NONE.withMaxAttempts(1).withOnFailure(OnFailure.HOLD);
    jobs.put("failed", at.enqueue(NewJob.of("fails", 1).withTarget("broken").withPolicy(hold)));
    Lease failing =
        at.claim(ClaimRequest.of("worker", Set.of("default"), 1).withKinds(Set.of("fails")))
            .getFirst();
    at.finish(failing, Outcome.failed(Failure.retryable("E", "e")));
    jobs.put("paused", at.enqueue(any.withTarget("quiet")));
    tenant.acts().pause(jobs.get("paused"), AtWork.ADA);
    jobs.put("plain", at.enqueue(any));
    jobs.put("runs", at.enqueue(any.withResources("site:1")));
    jobs.put("waits", at.enqueue(any.withResources("site:1")));
    jobs.put("first", at.enqueue(any.withTarget("line")));
    jobs.put("second", at.enqueue(any.withTarget("line")));
    at.claim();
    jobs.put("free", at.enqueue(any));
    at.isSound();
  }

  @ParameterizedTest
  @EnumSource
  void what_breaks_a_rule_is_reported_by_the_rules_id(Broken broken) {
    tenant.execute(withJobs(broken.sql));

    assertThat(tenant.invariants().check())
        .extracting(Violation::id)
        .isNotEmpty()
        .hasSameElementsAs(broken.ids());
  }

  @Test
  void a_violation_names_the_job_and_the_resource_and_says_what_is_wrong() {
    tenant.execute(withJobs("DELETE FROM {schema}.block WHERE job_id = {failed}"));

    assertThat(tenant.invariants().check())
        .singleElement()
        .satisfies(violation -> {
          assertThat(violation.jobId()).contains(jobs.get("failed"));
          assertThat(violation.resource()).contains("target:broken");
          assertThat(violation.detail()).contains("no recorded act");
        });
  }

  @Test
  void every_rule_that_has_a_view_has_something_that_breaks_it() {
    List<String> views =
        tenant
            .query(
                """
                SELECT 'I' || substring(relname FROM 'invariant_i(.*)')::integer AS id
                  FROM pg_class
                 WHERE relnamespace = '{schema}'::regnamespace AND relname LIKE 'invariant\\_i%'
                """)
            .stream()
            .map(row -> (String) row.get("id"))
            .toList();

    assertThat(Arrays.stream(Broken.values()).flatMap(broken -> broken.ids().stream()).distinct())
        .containsExactlyInAnyOrderElementsOf(views);
  }

  @Test
  void deadlocks_are_counted() {
    assertThat(tenant.invariants().deadlocks()).isNotNegative();
  }

  private String withJobs(String sql) {
    String rendered = sql;
    for (Map.Entry<String, UUID> job : jobs.entrySet()) {
      rendered = rendered.replace("{" + job.getKey() + "}", "'" + job.getValue() + "'");
    }
    return rendered;
  }
}
