package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.audit.Act;
import dev.holdfast.job.JobState;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.server.Caller.Reply;
import dev.holdfast.testkit.Covers;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** What a report of a worker that pulls does, and what of it is refused. */
class PullReportsTest extends PullRig {

  @Covers({"E1", "E6"})
  @Test
  void a_job_that_has_its_target_count_is_done_and_so_is_one_without_more_results() {
    UUID counted = enqueue(PolicyOverrides.NONE.withTargetCount(2));
    JsonNode job = pull("w");
    assertThat(job.path("target_count").asInt()).isEqualTo(2);
    JsonNode reached =
        report("w", job, "\"items\": [{\"key\": \"a\"}, {\"key\": \"b\"}, {\"key\": \"c\"}]");
    UUID empty = enqueue(PolicyOverrides.NONE);
    JsonNode over = report("w", pull("w"), "\"done\": true, \"done_reason\": \"no_more_results\"");

    assertThat(reached.path("done").asBoolean()).isTrue();
    assertThat(reached.path("done_reason").asString()).isEqualTo("target_reached");
    assertThat(reached.path("result_count").asInt()).isEqualTo(3);
    assertThat(row(counted)).containsEntry("done_reason", "target_reached");
    assertThat(over.path("done_reason").asString()).isEqualTo("no_more_results");
    assertThat(row(empty)).containsEntry("done_reason", "no_more_results");
  }

  @Test
  void the_same_key_is_one_report_however_often_it_comes_and_also_after_the_end() throws Exception {
    UUID id = enqueue(PolicyOverrides.NONE);
    JsonNode job = pull("w");
    String once =
        body(
            id.toString(),
            attemptOf(job) + "\"items\": [{\"key\": \"a\"}], \"idempotency_key\": \"r1\"");
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<Reply>> replies =
          IntStream.range(0, 16)
              .mapToObj(i -> threads.submit(() -> worker("w").post(REPORT, once)))
              .toList();
      int stored = 0;
      for (Future<Reply> reply : replies) {
        assertThat(reply.get().status()).isEqualTo(200);
        if (reply.get().json().path("idempotent").asBoolean()) {
          assertThat(reply.get().json().propertyNames()).containsExactly("ok", "idempotent");
        } else {
          stored++;
        }
      }
      assertThat(stored).isEqualTo(1);
    }
    assertThat(row(id)).containsEntry("progress_count", 1L);

    String done =
        body(id.toString(), attemptOf(job) + "\"done\": true, \"idempotency_key\": \"r2\"");
    assertThat(worker("w").post(REPORT, done).json().path("done").asBoolean()).isTrue();
    Reply repeated = worker("w").post(REPORT, done);
    Reply byAnother = worker("other").post(REPORT, done.replace(attemptOf(job), ""));

    assertThat(repeated.text()).isEqualTo("{\"ok\":true,\"idempotent\":true}");
    assertThat(byAnother.text()).isEqualTo("{\"ok\":true,\"idempotent\":true}");
    assertThat(worker("w").post(REPORT, done.replace("r2", "r3")).status()).isEqualTo(409);
  }

  @Test
  void without_the_attempt_a_report_counts_from_the_worker_that_has_the_job_alone() {
    UUID id = enqueue(PolicyOverrides.NONE);
    pull("w1");

    assertThat(worker("w2").post(REPORT, body(id.toString(), "\"items\": []")).status())
        .isEqualTo(409);
    assertThat(worker("w1").post(REPORT, body(id.toString(), "\"items\": []")).status())
        .isEqualTo(200);
  }

  @Test
  void a_job_that_somebody_stopped_is_over_with_its_workers_next_report() {
    UUID id = enqueue(PolicyOverrides.NONE);
    JsonNode job = pull("w");
    tenant.acts().cancel(id, Act.by("ada"));
    assertThat(row(id)).containsEntry("status", "processing");

    JsonNode answer = report("w", job, "\"items\": [{\"key\": \"a\"}], \"extend_lease_sec\": 60");

    assertThat(answer.path("added").asInt()).isEqualTo(1);
    assertThat(answer.path("done").asBoolean()).isTrue();
    assertThat(answer.path("done_reason").isNull()).isTrue();
    assertThat(answer.path("lease_expires_at").isNull()).isTrue();
    assertThat(tenant.job(id).state()).isEqualTo(JobState.CANCELLED);
    assertThat(row(id)).containsEntry("status", "failed");
    assertThat(tenant.invariants().check()).isEmpty();
  }

  @Test
  void an_error_of_a_job_that_somebody_stopped_does_not_bring_it_back() {
    UUID id = enqueue(PolicyOverrides.NONE);
    JsonNode job = pull("w");
    tenant.acts().cancel(id, Act.by("ada"));

    assertThat(report("w", job, "\"error\": \"x\"").path("done").asBoolean()).isTrue();

    assertThat(tenant.job(id).state()).isEqualTo(JobState.CANCELLED);
    assertThat(pull("w").isNull()).isTrue();
  }

  @Test
  void bad_input_is_refused_with_a_sentence_and_nothing_is_stored() {
    UUID id = enqueue(PolicyOverrides.NONE);
    JsonNode job = pull("w");
    Map<String, Object> before = row(id);
    for (String bad :
        List.of(
            "\"items\": {}",
            "\"items\": [1]",
            "\"items\": [{}]",
            "\"items\": [{\"phone\": \"none\"}]",
            "\"items\": [{\"phone\": true}]",
            "\"items\": [{\"key\": \"\"}]",
            "\"items\": [{\"key\": \"%s\"}]".formatted("k".repeat(201)),
            "\"items\": [%s]".formatted("{\"key\": \"k\"},".repeat(1_000) + "{\"key\": \"k\"}"),
            "\"cursor\": {}",
            "\"cursor\": \"%s\"".formatted("c".repeat(4_001)),
            "\"cursor\": \"\\u0000\"",
            "\"done\": \"yes\"",
            "\"done\": true, \"done_reason\": \"tired\"",
            "\"extend_lease_sec\": -1",
            "\"extend_lease_sec\": 86401",
            "\"extend_lease_sec\": \"long\"",
            "\"error\": 7",
            "\"attempt_id\": \"first\"",
            "\"attempt_id\": 1.5",
            "\"idempotency_key\": \"%s\"".formatted("k".repeat(201)))) {
      String fence = bad.contains("attempt_id") ? "" : attemptOf(job);
      Reply reply = worker("w").post(REPORT, body(id.toString(), fence + bad));
      assertThat(reply.status()).as(bad + reply.text()).isEqualTo(400);
      assertThat(reply.json().propertyNames()).containsExactly("detail");
    }
    for (String body : List.of("", "{", "[]", "{}", "{\"job_id\": 1}", "{\"job_id\": \"../x\"}")) {
      assertThat(worker("w").post(REPORT, body).status()).as(body).isEqualTo(400);
    }
    assertThat(worker("w").post(REPORT, body(UUID.randomUUID().toString(), "")).status())
        .isEqualTo(404);
    for (String query : List.of("lease_sec=0", "lease_sec=86401", "lease_sec=x", "queue=%00")) {
      assertThat(worker("w").get(PULL + "?" + query).status()).as(query).isEqualTo(400);
    }
    assertThat(worker("w".repeat(201)).get(PULL).status()).isEqualTo(400);
    assertThat(row(id)).isEqualTo(before);
    assertThat(tenant.jobs().items(id, 10)).isEmpty();
  }

  @Test
  void what_an_ended_attempt_said_is_cut_and_not_refused() {
    UUID id = enqueue(PolicyOverrides.NONE);

    report(
        "w",
        pull("w"),
        "\"error\": \"%s\\u0000\", \"log\": \"%s\""
            .formatted("e".repeat(20_000), "l".repeat(20_000)));

    assertThat(String.valueOf(row(id).get("last_error"))).hasSizeBetween(10_000, 10_100);
    assertThat(String.valueOf(attempts(id).getFirst().get("log_excerpt")))
        .hasSizeBetween(4_000, 4_100);
  }

  @Test
  void a_key_may_be_a_number() {
    enqueue(PolicyOverrides.NONE);
    JsonNode job = pull("w");

    JsonNode answer = report("w", job, "\"items\": [{\"key\": 7}, {\"key\": \"7\"}]");

    assertThat(answer.path("added").asInt()).isEqualTo(1);
    assertThat(answer.path("duplicates").asInt()).isEqualTo(1);
  }
}
