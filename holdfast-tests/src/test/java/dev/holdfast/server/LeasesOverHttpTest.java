package dev.holdfast.server;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.job.JobState;
import dev.holdfast.job.NewJob;
import dev.holdfast.server.Caller.Reply;
import dev.holdfast.server.auth.Role;
import dev.holdfast.testkit.Covers;
import dev.holdfast.testkit.TestTenant;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** Leases, as a worker in any language gets and keeps them. */
class LeasesOverHttpTest {

  private static final String LEASES = "/api/v1/leases";

  @RegisterExtension final TestTenant tenant = new TestTenant();

  private Caller worker;

  @BeforeEach
  void connect() {
    worker = TestServer.shared().as(Role.WORKER, tenant.name());
  }

  @AfterEach
  void isSound() {
    assertThat(tenant.invariants().check()).isEmpty();
  }

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
  void the_same_claim_id_gets_the_same_leases_and_nobody_else_gets_them() {
    UUID id = enqueue("default");

    JsonNode first = claim("w1", ", \"claim_id\": \"c1\"").get(0);
    JsonNode again = claim("w1", ", \"claim_id\": \"c1\"").get(0);

    assertThat(again.path("fence")).isEqualTo(first.path("fence"));
    assertThat(again.path("job").path("id").asString()).isEqualTo(id.toString());
    assertThat(claim("w2", ", \"claim_id\": \"c2\"").size()).isZero();
  }

  @Test
  void whoever_waits_gets_what_comes_and_nobody_gets_what_another_has() throws Exception {
    int workers = 40;
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<JsonNode>> waiting =
          IntStream.range(0, workers)
              .mapToObj(i ->
                  (Callable<JsonNode>)
                      () ->
                          claim(
                              "w" + i, ", \"wait_seconds\": 30, \"claim_id\": \"wait-" + i + "\""))
              .map(threads::submit)
              .toList();
      tenant
          .jobs()
          .enqueueAll(IntStream.range(0, workers).mapToObj(i -> NewJob.of("deploy", i)).toList());
      Set<String> jobs = new HashSet<>();
      Set<Long> fences = new HashSet<>();
      for (Future<JsonNode> each : waiting) {
        JsonNode leases = each.get();
        assertThat(leases.size()).isEqualTo(1);
        jobs.add(leases.get(0).path("job").path("id").asString());
        fences.add(leases.get(0).path("fence").asLong());
      }

      assertThat(jobs).hasSize(workers);
      assertThat(fences).hasSize(workers);
      // Asked again, each gets its own.
      JsonNode again = claim("w7", ", \"claim_id\": \"wait-7\"");
      assertThat(again.size()).isEqualTo(1);
      assertThat(again.get(0).path("job").path("lease").path("owner").asString()).isEqualTo("w7");
    }
  }

  @Test
  void those_who_wait_for_resources_get_them_all_or_nothing() throws Exception {
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<JsonNode>> waiting =
          IntStream.range(0, 3)
              .mapToObj(i -> (Callable<JsonNode>) () -> claim("w" + i, ", \"wait_seconds\": 3"))
              .map(threads::submit)
              .toList();
      tenant
          .jobs()
          .enqueueAll(
              List.of(
                  NewJob.of("deploy", 1).withResources("site:1", "node:1"),
                  NewJob.of("deploy", 2).withResources("site:1", "node:2"),
                  NewJob.of("deploy", 3).withResources("site:2", "node:2")));
      int granted = 0;
      for (Future<JsonNode> each : waiting) {
        granted += each.get().size();
      }

      assertThat(granted).isEqualTo(2);
    }
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
  void nothing_within_the_wait_is_an_empty_list() {
    assertThat(claim("w1", ", \"wait_seconds\": 0.2").size()).isZero();
    assertThat(
            worker
                .post(LEASES, "{\"worker\": \"w\", \"queues\": [\"q\"], \"wait_seconds\": 61}")
                .status())
        .isEqualTo(400);
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

  @Test
  void a_dispatched_job_that_nobody_starts_goes_back_without_costing_an_attempt() {
    UUID id = enqueue("default");
    claim("w1", ", \"acknowledge\": true");

    tenant.advance(Duration.ofSeconds(31));
    new dev.holdfast.lease.Reaper(
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
  void a_claim_asked_again_while_it_waits_gets_what_comes() throws Exception {
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      String more = ", \"wait_seconds\": 30, \"claim_id\": \"again\"";
      Future<JsonNode> lost = threads.submit(() -> claim("w1", more));
      TestServer.awaitWaiting(tenant.name(), 1);
      Future<JsonNode> again = threads.submit(() -> claim("w1", more));

      assertThat(lost.get().size()).isZero(); // nobody reads it, and it is not kept for nothing
      UUID id = enqueue("default");
      assertThat(again.get().get(0).path("job").path("id").asString()).isEqualTo(id.toString());
    }
  }

  @Test
  void whoever_hung_up_is_not_dealt_a_job() throws Exception {
    String body = "{\"worker\": \"ghost\", \"queues\": [\"default\"], \"wait_seconds\": 60}";
    try (RawHttp ghost = RawHttp.to(worker)) {
      ghost.post(LEASES, body);
      TestServer.awaitWaiting(tenant.name(), 1);
    }
    UUID id = enqueue("default");

    assertThat(claim("alive", ", \"wait_seconds\": 30").get(0).path("job").path("id").asString())
        .isEqualTo(id.toString());
  }

  @Test
  void a_request_sent_behind_one_that_waits_is_answered_after_it() throws Exception {
    String body = "{\"worker\": \"w\", \"queues\": [\"default\"], \"wait_seconds\": 60}";
    try (RawHttp line = RawHttp.to(worker)) {
      line.post(LEASES, body);
      TestServer.awaitWaiting(tenant.name(), 1);
      line.get("/healthz");
      UUID id = enqueue("default");

      assertThat(line.answer()).contains(id.toString());
      assertThat(line.answer()).contains("\"status\":\"ok\"");
    }
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
  void what_one_host_alone_may_have_is_not_dealt_to_who_waits_beside_it() throws Exception {
    String job = "{\"kind\": \"a\", \"preferred_host\": \"h1\", \"require_host\": true}";
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<JsonNode> mine = threads.submit(() -> claim("h1", ", \"wait_seconds\": 3"));
      TestServer.awaitWaiting(tenant.name(), 1);
      Future<JsonNode> other = threads.submit(() -> claim("h2", ", \"wait_seconds\": 3"));
      TestServer.awaitWaiting(tenant.name(), 2);
      TestServer.shared()
          .as(Role.SUBMITTER, tenant.name())
          .post("/api/v1/jobs/batch", "{\"jobs\": [%s, %s]}".formatted(job, job));

      assertThat(mine.get().size()).isEqualTo(1);
      assertThat(other.get().size()).isZero();
    }
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

  private UUID enqueue(String queue) {
    return tenant.jobs().enqueue(NewJob.of("deploy", 1).withQueue(queue)).id();
  }

  private JsonNode claim(String name, String more) {
    Reply reply =
        worker.post(
            LEASES, "{\"worker\": \"%s\", \"queues\": [\"default\"]%s}".formatted(name, more));
    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
    return reply.json().path("leases");
  }

  private JsonNode finish(String name, UUID id, long fence, String outcome) {
    Reply reply =
        worker.post(
            LEASES + "/finish",
            "{\"worker\": \"%s\", \"results\": [{\"job_id\": \"%s\", \"fence\": %d, %s}]}"
                .formatted(name, id, fence, outcome));
    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
    return reply.json().path("results").get(0);
  }

  private static String keys(String name, UUID id, long fence) {
    return "{\"worker\": \"%s\", \"leases\": [{\"job_id\": \"%s\", \"fence\": %d}]}"
        .formatted(name, id, fence);
  }
}
