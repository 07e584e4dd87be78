package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.job.NewJob;
import dev.holdfast.server.auth.Role;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** Claims that wait for something to come. */
class WaitingClaimsTest extends LeasesRig {

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
  void nothing_within_the_wait_is_an_empty_list() {
    assertThat(claim("w1", ", \"wait_seconds\": 0.2").size()).isZero();
    assertThat(
            worker
                .post(LEASES, "{\"worker\": \"w\", \"queues\": [\"q\"], \"wait_seconds\": 61}")
                .status())
        .isEqualTo(400);
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
}
