package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.server.Caller.Reply;
import dev.holdfast.server.auth.Role;
import dev.holdfast.testkit.Covers;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** Pull and report, as a worker finds them that was written by their document and nothing else. */
class PullDialectTest extends PullRig {

  @Covers({"E1", "E2", "E3", "E4", "E5", "E6", "E10", "E12"})
  @Test
  void a_worker_pulls_reports_and_is_done() {
    tenant.stopClock();
    UUID id = enqueue(PolicyOverrides.NONE);
    assertThat(row(id)).containsEntry("status", "queued").containsEntry("attempts", 0);

    JsonNode job = worker("w1").get(PULL + "?lease_sec=60").json().path("job");

    assertThat(job.propertyNames())
        .containsExactly(
            "id",
            "attempt_id",
            "kind",
            "payload",
            "attempts",
            "max_attempts",
            "target_count",
            "last_cursor",
            "lease_expires_at");
    assertThat(job.path("id").asString()).isEqualTo(id.toString());
    assertThat(job.path("kind").asString()).isEqualTo("scrape");
    assertThat(job.path("payload").path("q").asString()).isEqualTo("cafés");
    assertThat(job.path("attempts").asInt()).isEqualTo(1);
    assertThat(job.path("max_attempts").asInt()).isEqualTo(3);
    assertThat(job.path("target_count").isNull()).isTrue();
    assertThat(job.path("last_cursor").isNull()).isTrue();
    Instant expires = Instant.parse(job.path("lease_expires_at").asString());
    assertThat(row(id))
        .containsEntry("status", "processing")
        .containsEntry("attempts", 1)
        .containsEntry("worker_id", "w1");
    assertThat(pull("w2").isNull()).as("others avoid it").isTrue();

    tenant.advance(Duration.ofSeconds(30));
    JsonNode first =
        report(
            "w1",
            job,
            """
            "items": [{"phone": "+1 (555) 010"}, {"phone": "1555010"}, {"phone": 1555011},
                      {"key": "k", "phone": "1555010"}],
            "cursor": "page 2", "done": false, "extend_lease_sec": 120
            """);

    assertThat(first.propertyNames())
        .containsExactly(
            "ok",
            "added",
            "duplicates",
            "progress_count",
            "result_count",
            "done",
            "done_reason",
            "lease_expires_at");
    assertThat(first.path("ok").asBoolean()).isTrue();
    assertThat(first.path("added").asInt()).isEqualTo(3);
    assertThat(first.path("duplicates").asInt()).isEqualTo(1);
    assertThat(first.path("progress_count").asInt()).isEqualTo(4);
    assertThat(first.path("result_count").asInt()).isEqualTo(3);
    assertThat(first.path("done").asBoolean()).isFalse();
    assertThat(Instant.parse(first.path("lease_expires_at").asString()))
        .isEqualTo(expires.minusSeconds(60).plusSeconds(30 + 120));
    assertThat(row(id))
        .containsEntry("last_cursor", "page 2")
        .containsEntry("progress_count", 4L)
        .containsEntry("result_count", 3L);
    assertThat(row(id).get("last_progress_at")).isNotNull();

    JsonNode last =
        report(
            "w1", job, "\"items\": [{\"phone\": \"1555010\"}], \"done\": true, \"log\": \"bye\"");

    assertThat(last.path("done").asBoolean()).isTrue();
    assertThat(last.path("done_reason").asString()).isEqualTo("worker_done");
    assertThat(last.path("duplicates").asInt()).isEqualTo(1);
    assertThat(last.path("progress_count").asInt()).isEqualTo(5);
    assertThat(last.path("lease_expires_at").isNull()).isTrue();
    assertThat(row(id))
        .containsEntry("status", "done")
        .containsEntry("done_reason", "worker_done")
        .containsEntry("lease_expires_at", null);
    assertThat(attempts(id))
        .singleElement()
        .satisfies(attempt ->
            assertThat(attempt)
                .containsEntry("id", job.path("attempt_id").asLong())
                .containsEntry("worker_id", "w1")
                .containsEntry("success", 1)
                .containsEntry("log_excerpt", "bye"));
    assertThat(tenant.invariants().check()).isEmpty();
  }

  @Covers({"E7", "E8", "E9", "E10"})
  @Test
  void an_error_waits_ever_longer_until_the_attempts_are_used_up() {
    tenant.stopClock();
    UUID id = enqueue(PolicyOverrides.NONE);
    for (long seconds : List.of(30, 60)) {
      JsonNode job = pull("w1");
      Instant now = now();
      JsonNode answer =
          report("w1", job, "\"items\": [], \"error\": \"blocked\", \"log\": \"HTTP 429\"");

      assertThat(answer.path("ok").asBoolean()).isTrue();
      assertThat(answer.path("done").asBoolean()).isFalse();
      assertThat(answer.path("lease_expires_at").isNull()).isTrue();
      assertThat(row(id)).containsEntry("status", "queued").containsEntry("last_error", "blocked");
      Instant next = nextRetryAt(id);
      assertThat(Duration.between(now, next))
          .isBetween(Duration.ofSeconds(seconds), Duration.ofMillis(seconds * 1200));
      assertThat(pull("w1").isNull()).as("not before its time").isTrue();
      tenant.advance(Duration.ofMillis(seconds * 1200));
    }

    JsonNode third = pull("w2");
    assertThat(third.path("attempts").asInt()).isEqualTo(3);
    report("w2", third, "\"error\": \"still blocked\"");

    assertThat(row(id))
        .containsEntry("status", "failed")
        .containsEntry("last_error", "still blocked");
    assertThat(attempts(id))
        .hasSize(3)
        .allSatisfy(attempt -> assertThat(attempt).containsEntry("success", 0));
    assertThat(attempts(id).getFirst()).containsEntry("log_excerpt", "HTTP 429");
    assertThat(pull("w1").isNull()).isTrue();
  }

  @Covers({"E2", "E11"})
  @Test
  void a_stale_workers_job_goes_to_another_with_its_cursor_and_the_zombie_changes_nothing() {
    UUID id = enqueue(PolicyOverrides.NONE);
    JsonNode lost = worker("w1").get(PULL + "?lease_sec=10").json().path("job");
    report("w1", lost, "\"items\": [{\"key\": \"a\"}], \"cursor\": 7, \"extend_lease_sec\": 10");
    tenant.advance(Duration.ofSeconds(11));
    tenant.reap();

    JsonNode again = pull("w2");

    assertThat(again.path("id").asString()).isEqualTo(id.toString());
    assertThat(again.path("attempts").asInt()).isEqualTo(2);
    assertThat(again.path("last_cursor").asString()).isEqualTo("7");
    Map<String, Object> before = row(id);
    for (String more :
        List.of(
            "\"items\": [{\"key\": \"b\"}], \"cursor\": \"9\", \"extend_lease_sec\": 500",
            "\"done\": true",
            "\"error\": \"x\"",
            "\"idempotency_key\": \"late\", \"done\": true")) {
      for (String fence : List.of(attemptOf(lost), "")) {
        Reply late = worker("w1").post(REPORT, body(id.toString(), fence + more));
        assertThat(late.status()).as(fence + more).isEqualTo(409);
        assertThat(late.json().propertyNames()).containsExactly("detail");
      }
    }
    assertThat(row(id)).isEqualTo(before);
    assertThat(tenant.jobs().items(id, 10)).hasSize(1);
    assertThat(tenant.query("SELECT key FROM {schema}.idempotency")).isEmpty();
  }

  @Covers("E13")
  @Test
  void settings_are_in_force_at_once_also_for_jobs_that_are_being_worked_on() {
    Caller admin = TestServer.shared().as(Role.ADMIN, tenant.name());
    tenant.stopClock();
    UUID id = enqueue(PolicyOverrides.NONE);
    set(admin, "LEASE_SEC_DEFAULT", 40);
    set(admin, "MAX_ATTEMPTS_DEFAULT", 5);

    JsonNode job = pull("w");
    assertThat(Duration.between(now(), Instant.parse(job.path("lease_expires_at").asString())))
        .isEqualTo(Duration.ofSeconds(40));
    assertThat(job.path("max_attempts").asInt()).isEqualTo(5);
    set(admin, "LEASE_SEC_DEFAULT", 70);
    assertThat(
            Duration.between(
                now(),
                Instant.parse(
                    report("w", job, "\"items\": []").path("lease_expires_at").asString())))
        .as("a report that does not say for how long")
        .isEqualTo(Duration.ofSeconds(70));
    set(admin, "BACKOFF_BASE_SEC", 1_000);
    set(admin, "BACKOFF_MAX_SEC", 500);
    report("w", job, "\"error\": \"x\"");

    assertThat(Duration.between(now(), nextRetryAt(id)))
        .isBetween(Duration.ofSeconds(500), Duration.ofSeconds(600));
    set(admin, "MAX_ATTEMPTS_DEFAULT", 2);
    tenant.advance(Duration.ofMinutes(10));
    report("w", pull("w"), "\"error\": \"x\"");
    assertThat(row(id)).containsEntry("status", "failed").containsEntry("max_attempts", 2);
    assertThat(tenant.query("SELECT name, value FROM {schema}.setting"))
        .contains(Map.of("name", "LEASE_SEC_DEFAULT", "value", "70"));
  }

  @Covers("E13")
  @Test
  void the_settings_table_shows_what_is_in_force() {
    Caller admin = TestServer.shared().as(Role.ADMIN, tenant.name());
    set(admin, "BACKOFF_MAX_SEC", 900);

    assertThat(tenant.query("SELECT name, value FROM {schema}.settings ORDER BY name"))
        .containsExactly(
            Map.of("name", "BACKOFF_BASE_SEC", "value", "30"),
            Map.of("name", "BACKOFF_MAX_SEC", "value", "900"),
            Map.of("name", "LEASE_SEC_DEFAULT", "value", "180"),
            Map.of("name", "MAX_ATTEMPTS_DEFAULT", "value", "3"));
  }

  private static void set(Caller admin, String name, long value) {
    assertThat(admin.put("/api/v1/settings/" + name, "{\"value\": %d}".formatted(value)).status())
        .isEqualTo(200);
  }

  private Instant nextRetryAt(UUID id) {
    return instant(
        "SELECT next_retry_at AS at FROM {schema}.pull_jobs WHERE id = '%s'".formatted(id));
  }

  private Instant now() {
    return instant("SELECT {schema}.clock() AS at");
  }

  private Instant instant(String sql) {
    return tenant
        .tenant()
        .db()
        .jdbi()
        .withHandle(
            handle -> handle.createQuery(tenant.tenant().db().sql(sql)).mapTo(Instant.class).one());
  }
}
