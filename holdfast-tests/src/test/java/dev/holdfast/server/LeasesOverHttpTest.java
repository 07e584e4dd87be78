package dev.holdfast.server;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.job.JobState;
import dev.holdfast.job.NewJob;
import dev.holdfast.server.Caller.Reply;
import dev.holdfast.server.auth.Role;
import dev.holdfast.testkit.Covers;
import java.time.Duration;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** Leases, as a worker in any language gets and keeps them. */
class LeasesOverHttpTest extends LeasesRig {

  @Test
  void a_worker_claims_extends_reports_and_finishes() {
    UUID id = enqueue("default");

    JsonNode lease = claim("w1", "").get(0);
    long fence = lease.path("fence").asLong();
    JsonNode extended = worker.post(LEASES + "/extend", keys("w1", id, fence)).json();
    Reply progress =
        worker.post(
            "/api/v1/jobs/" + id + "/progress",
            "{\"fence\": %d, \"percent\": 50, \"cursor\": \"c\", \"usage\": {\"tokens\": 7}}"
                .formatted(fence));
    Reply log =
        worker.post(
            "/api/v1/jobs/" + id + "/logs",
            "{\"fence\": %d, \"lines\": [\"one\", \"zwei ä\"]}".formatted(fence));
    JsonNode finished =
        finish("w1", id, fence, "\"outcome\": \"succeeded\", \"result\": {\"n\": 2}");

    assertThat(lease.path("job").path("id").asString()).isEqualTo(id.toString());
    assertThat(lease.path("job").path("state").asString()).isEqualTo("running");
    assertThat(extended.path("results").get(0).path("status").asString()).isEqualTo("extended");
    assertThat(extended.path("results").get(0).path("expires_at").asString()).isNotEmpty();
    assertThat(progress.status()).isEqualTo(200);
    assertThat(log.status()).isEqualTo(200);
    assertThat(finished.path("status").asString()).isEqualTo("recorded");
    assertThat(finished.path("state").asString()).isEqualTo("succeeded");
    JsonNode job = worker.get("/api/v1/jobs/" + id).json();
    assertThat(job.path("result").path("n").asInt()).isEqualTo(2);
    assertThat(job.path("done_reason").asString()).isEqualTo("worker_done");
    assertThat(job.path("progress").path("percent").asDouble()).isEqualTo(50);
    JsonNode said = worker.get("/api/v1/jobs/" + id + "/logs").json();
    assertThat(said.path("logs").get(1).path("line").asString()).isEqualTo("zwei ä");
    assertThat(said.path("next_offset").asLong()).isEqualTo(4 + 8);
    assertThat(worker.get("/api/v1/jobs/" + id + "/logs?offset=4").json().path("logs").size())
        .isEqualTo(1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"stopped", "released"})
  void an_end_that_paused_its_job_is_answered_the_same_again(String outcome) {
    Caller admin = TestServer.shared().as(Role.ADMIN, tenant.name());
    admin.post("/api/v1/jobs", "{\"kind\": \"a\", \"on_stop\": \"pause\"}");
    JsonNode lease = claim("w1", "").get(0);
    UUID id = UUID.fromString(lease.path("job").path("id").asString());
    long fence = lease.path("fence").asLong();
    admin.post("/api/v1/jobs/" + id + "/stop", "");

    JsonNode first = finish("w1", id, fence, "\"outcome\": \"" + outcome + "\"");
    JsonNode again = finish("w1", id, fence, "\"outcome\": \"" + outcome + "\"");

    assertThat(first.path("status").asString()).isEqualTo("recorded");
    assertThat(first.path("state").asString()).isEqualTo("paused");
    assertThat(again).isEqualTo(first);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "\"outcome\": \"failed\", \"error_code\": \"X\", \"error_message\": \"y\"",
        "\"outcome\": \"released\"",
        "\"outcome\": \"snoozed\", \"delay_seconds\": 5"
      })
  void an_end_that_a_cancel_turned_into_another_is_answered_its_worker_the_same_again(
      String outcome) {
    UUID id = enqueue("default");
    long fence = claim("w1", "").get(0).path("fence").asLong();
    TestServer.shared().as(Role.ADMIN, tenant.name()).post("/api/v1/jobs/" + id + "/cancel", "{}");

    JsonNode first = finish("w1", id, fence, outcome);
    JsonNode again = finish("w1", id, fence, outcome);

    assertThat(first.path("status").asString()).isEqualTo("recorded");
    assertThat(first.path("state").asString()).isEqualTo("cancelled");
    assertThat(again).isEqualTo(first);
    assertThat(finish("w2", id, fence, outcome).path("status").asString()).isEqualTo("lost");
    assertThat(finish("w1", id, fence - 1, outcome).path("status").asString()).isEqualTo("lost");
    assertThat(finish("w1", id, fence, "\"outcome\": \"succeeded\"").path("status").asString())
        .isEqualTo("lost");
  }

  @Test
  void a_finish_whose_answer_got_lost_is_answered_the_same_and_a_late_one_changes_nothing() {
    UUID id = enqueue("default");
    long fence = claim("w1", "").get(0).path("fence").asLong();
    finish("w1", id, fence, "\"outcome\": \"succeeded\"");

    assertThat(finish("w1", id, fence, "\"outcome\": \"succeeded\"").path("status").asString())
        .isEqualTo("recorded");
    assertThat(finish("w1", id, fence, "\"outcome\": \"failed\"").path("status").asString())
        .isEqualTo("lost");
    assertThat(finish("w2", id, fence, "\"outcome\": \"succeeded\"").path("status").asString())
        .isEqualTo("lost");
    Reply late =
        worker.post(
            "/api/v1/jobs/" + id + "/progress", "{\"fence\": %d, \"percent\": 1}".formatted(fence));
    assertThat(late.status()).isEqualTo(409);
    assertThat(late.code()).isEqualTo("LEASE_LOST");
    assertThat(
            worker
                .post(LEASES + "/extend", keys("w1", id, fence))
                .json()
                .path("results")
                .get(0)
                .path("status")
                .asString())
        .isEqualTo("lost");
  }

  @Test
  void a_worker_that_says_another_name_than_the_lease_has_changes_nothing() {
    UUID id = enqueue("default");
    long fence = claim("w1", ", \"acknowledge\": true").get(0).path("fence").asLong();

    assertThat(status("/start", "w2", id, fence)).isEqualTo("lost");
    assertThat(status("/extend", "w2", id, fence)).isEqualTo("lost");
    assertThat(finish("w2", id, fence, "\"outcome\": \"succeeded\"").path("status").asString())
        .isEqualTo("lost");

    assertThat(tenant.job(id).state()).isEqualTo(JobState.DISPATCHED);
    assertThat(status("/start", "w1", id, fence)).isEqualTo("started");
  }

  private String status(String act, String name, UUID id, long fence) {
    Reply reply = worker.post(LEASES + act, keys(name, id, fence));
    return reply.json().at("/results/0/status").asString();
  }

  @Test
  void the_same_claim_id_gets_the_same_leases_and_nobody_else_gets_them() {
    UUID id = enqueue("default");

    JsonNode first = claim("w1", ", \"claim_id\": \"c1\"").get(0);
    JsonNode again = claim("w1", ", \"claim_id\": \"c1\"").get(0);

    assertThat(again.path("fence")).isEqualTo(first.path("fence"));
    assertThat(again.path("job").path("id").asString()).isEqualTo(id.toString());
    assertThat(claim("w2", ", \"claim_id\": \"c2\"").size()).isZero();
  }

  @Test
  void a_worker_has_no_more_kinds_and_queues_than_anybody_needs() {
    String many = IntStream.range(0, 1_001).mapToObj("\"k%d\""::formatted).collect(joining(","));

    Reply kinds =
        worker.post(LEASES, "{\"worker\": \"w\", \"queues\": [\"q\"], \"kinds\": [" + many + "]}");
    Reply queues = worker.post(LEASES, "{\"worker\": \"w\", \"queues\": [" + many + "]}");

    assertThat(kinds.status()).isEqualTo(400);
    assertThat(kinds.text()).contains("kinds").contains("1000");
    assertThat(queues.status()).isEqualTo(400);
    assertThat(queues.text()).contains("queues").contains("200");
  }

  @Test
  void a_worker_that_acknowledges_gets_its_job_dispatched_and_starts_it() {
    UUID id = enqueue("default");
    long fence = claim("w1", ", \"acknowledge\": true").get(0).path("fence").asLong();
    JobState before = tenant.job(id).state();

    JsonNode started = worker.post(LEASES + "/start", keys("w1", id, fence)).json();
    JsonNode again = worker.post(LEASES + "/start", keys("w1", id, fence)).json();

    assertThat(before).isEqualTo(JobState.DISPATCHED);
    assertThat(started.path("results").get(0).path("status").asString()).isEqualTo("started");
    assertThat(again).isEqualTo(started);
    assertThat(tenant.job(id).state()).isEqualTo(JobState.RUNNING);
  }

  @Covers("A13")
  @Test
  void an_environment_is_deploying_from_the_start_of_its_job_and_not_from_its_dispatch() {
    Caller admin = TestServer.shared().as(Role.ADMIN, tenant.name());
    String environment = "/api/v1/subjects/environment/e1";
    admin.post("/api/v1/jobs", "{\"kind\": \"env_deploy\", \"environment_id\": \"e1\"}");
    JsonNode lease = claim("w1", ", \"acknowledge\": true").get(0);
    UUID id = UUID.fromString(lease.path("job").path("id").asString());
    Reply dispatched = admin.get(environment);

    assertThat(status("/start", "w1", id, lease.path("fence").asLong())).isEqualTo("started");

    assertThat(dispatched.status()).isEqualTo(404);
    assertThat(admin.get(environment).json().path("state").asString()).isEqualTo("deploying");
  }

  @Test
  void a_dispatched_job_that_nobody_starts_goes_back_without_costing_an_attempt() {
    UUID id = enqueue("default");
    claim("w1", ", \"acknowledge\": true");

    tenant.advance(Duration.ofSeconds(31));
    new dev.holdfast.reap.Reaper(
            tenant.tenant(), java.util.random.RandomGenerator.getDefault(), () -> {})
        .runOnce();

    assertThat(tenant.job(id).state()).isEqualTo(JobState.QUEUED);
    assertThat(tenant.job(id).attempt()).isZero();
  }

  @Covers("B6")
  @Test
  void anybody_may_ask_for_a_stop_and_the_owner_hears_it_with_its_next_beat() {
    UUID id =
        tenant
            .jobs()
            .enqueue(
                NewJob.of("deploy", 1)
                    .withPolicy(
                        dev.holdfast.job.PolicyOverrides.NONE.withOnStop(
                            dev.holdfast.job.Policy.OnStop.PAUSE)))
            .id();
    long fence = claim("w1", "").get(0).path("fence").asLong();
    TestServer.shared().as(Role.OPERATOR, tenant.name()).post("/api/v1/jobs/" + id + "/stop", "{}");

    JsonNode beat = worker.post(LEASES + "/extend", keys("w1", id, fence)).json();
    JsonNode ended = finish("w1", id, fence, "\"outcome\": \"stopped\"");

    assertThat(beat.path("results").get(0).path("status").asString()).isEqualTo("stop_requested");
    assertThat(ended.path("state").asString()).isEqualTo("paused");
  }

  @Test
  void of_two_ends_of_one_lease_in_one_request_the_first_counts() {
    UUID id = enqueue("default");
    long fence = claim("w1", "").get(0).path("fence").asLong();
    String end = "{\"job_id\": \"%s\", \"fence\": %d, \"outcome\": ".formatted(id, fence);

    JsonNode results =
        worker
            .post(
                LEASES + "/finish",
                "{\"worker\": \"w1\", \"results\": ["
                    + (end + "\"succeeded\"}, ")
                    + (end + "\"failed\"}]}"))
            .json()
            .path("results");

    assertThat(results.get(0).path("state").asString()).isEqualTo("succeeded");
    assertThat(results.get(1).path("status").asString()).isEqualTo("lost");
    assertThat(tenant.job(id).state()).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void a_report_that_says_nothing_still_says_whether_the_lease_is_lost() {
    UUID id = enqueue("default");
    long fence = claim("w1", "").get(0).path("fence").asLong();
    String progress = "/api/v1/jobs/" + id + "/progress";

    assertThat(worker.post(progress, "{\"fence\": %d}".formatted(fence)).status()).isEqualTo(200);
    assertThat(worker.post(progress, "{\"fence\": %d}".formatted(fence + 1)).code())
        .isEqualTo("LEASE_LOST");
    assertThat(
            worker
                .post("/api/v1/jobs/" + UUID.randomUUID() + "/progress", "{\"fence\": 1}")
                .status())
        .isEqualTo(404);
  }

  @Test
  void a_result_that_cannot_be_kept_fails_its_own_job_alone() {
    UUID large = enqueue("default");
    UUID small = enqueue("default");
    JsonNode leases = claim("w1", ", \"limit\": 2");
    long fence = leases.get(0).path("fence").asLong();
    String end =
        "{\"job_id\": \"%s\", \"fence\": %d, \"outcome\": \"succeeded\", \"result\": \"%s\"}";

    worker.post(
        LEASES + "/finish",
        "{\"worker\": \"w1\", \"results\": [%s, %s]}"
            .formatted(
                end.formatted(large, fence, "x".repeat(300_000)),
                end.formatted(small, fence, "x")));

    assertThat(tenant.job(small).state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(tenant.job(large).state()).isEqualTo(JobState.FAILED);
    assertThat(tenant.job(large).errorCode()).contains("UNSTORABLE_OUTCOME");
  }

  @Test
  void a_worker_that_names_no_host_is_its_own() {
    UUID id =
        UUID.fromString(
            TestServer.shared()
                .as(Role.SUBMITTER, tenant.name())
                .post(
                    "/api/v1/jobs",
                    "{\"kind\": \"a\", \"preferred_host\": \"h1\", \"require_host\": true}")
                .json()
                .path("id")
                .asString());

    assertThat(claim("h2", "").size()).isZero();
    assertThat(claim("h1", "").get(0).path("job").path("id").asString()).isEqualTo(id.toString());
  }

  @Test
  void a_snooze_and_a_release_cost_no_attempt() {
    UUID id = enqueue("default");
    long first = claim("w1", "").get(0).path("fence").asLong();
    finish("w1", id, first, "\"outcome\": \"released\"");
    long second = claim("w1", "").get(0).path("fence").asLong();
    JsonNode snoozed = finish("w1", id, second, "\"outcome\": \"snoozed\", \"delay_seconds\": 60");

    assertThat(snoozed.path("state").asString()).isEqualTo("queued");
    assertThat(tenant.job(id).attempt()).isZero();
    assertThat(claim("w1", "").size()).isZero();
    assertThat(second).isGreaterThan(first);
  }

  @Test
  void workers_that_asked_are_shown() {
    claim("somebody-" + tenant.name(), "");
    new dev.holdfast.fleet.RemoteWorkers(tenant.holdfast().tenants().control()).runOnce();

    // The server's own round comes within five seconds.
    long until = System.nanoTime() + Duration.ofSeconds(20).toNanos();
    String shown = "";
    while (!shown.contains("somebody-") && System.nanoTime() < until) {
      shown = worker.get("/api/v1/workers").text();
    }
    assertThat(shown).contains("somebody-" + tenant.name());
  }
}
