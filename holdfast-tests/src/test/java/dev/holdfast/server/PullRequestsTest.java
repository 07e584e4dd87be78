package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.job.NewJob;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.server.Caller.Reply;
import dev.holdfast.server.http.Proxies;
import dev.holdfast.testkit.Covers;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.JsonNode;

/** Who may pull and report, by which paths and verbs, from where, and how many at once. */
class PullRequestsTest extends PullRig {

  @Test
  void a_worker_without_a_name_is_where_it_asks_from_also_behind_a_proxy() {
    UUID id = enqueue(PolicyOverrides.NONE);
    plain().get(PULL);
    assertThat(row(id)).containsEntry("worker_id", "127.0.0.1");
    assertThat(plain().post(REPORT, body(id.toString(), "\"done\": true")).status()).isEqualTo(200);

    UUID next = enqueue(PolicyOverrides.NONE);
    ServerConfig trusting =
        TestServer.config().withAuth(false).withProxies(new Proxies(Set.of("127.0.0.1")));
    try (TestServer behind = TestServer.start(trusting)) {
      PlainHttp worker =
          PlainHttp.at(behind.addressOf(tenant.name())).with("X-Forwarded-For", "192.0.2.7");
      worker.get(PULL);
      assertThat(row(next)).containsEntry("worker_id", "192.0.2.7");
      assertThat(
              PlainHttp.at(behind.addressOf(tenant.name()))
                  .post(REPORT, body(next.toString(), "\"done\": true"))
                  .status())
          .isEqualTo(409);
    }
    assertThat(
            plain()
                .with("X-Forwarded-For", "192.0.2.7")
                .post(REPORT, body(next.toString(), ""))
                .status())
        .as("what nobody is trusted to say")
        .isEqualTo(409);
  }

  @Test
  void a_restart_in_the_midst_of_a_job_is_no_concern_of_its_workers() {
    UUID id = enqueue(PolicyOverrides.NONE);
    ServerConfig config = TestServer.config().withAuth(false);
    int port;
    JsonNode job;
    try (TestServer first = TestServer.start(config)) {
      port = first.port();
      PlainHttp worker = PlainHttp.at(first.addressOf(tenant.name()));
      job = worker.get(PULL).json().path("job");
      worker.post(REPORT, body(id.toString(), "\"items\": [{\"key\": \"a\"}], \"cursor\": \"2\""));
    }
    try (TestServer second = TestServer.start(config.withAddress("127.0.0.1", port))) {
      PlainHttp worker = PlainHttp.at(second.addressOf(tenant.name()));
      JsonNode answer =
          worker
              .post(
                  REPORT,
                  body(
                      id.toString(),
                      attemptOf(job)
                          + "\"items\": [{\"key\": \"a\"}, {\"key\": \"b\"}], \"done\": true"))
              .json();
      assertThat(answer.path("result_count").asInt()).isEqualTo(2);
      assertThat(answer.path("duplicates").asInt()).isEqualTo(1);
      assertThat(answer.path("done").asBoolean()).isTrue();
    }
    assertThat(row(id)).containsEntry("status", "done").containsEntry("attempts", 1);
  }

  @Covers("E12")
  @Test
  void both_paths_answer_with_php_appended() {
    UUID id = enqueue(PolicyOverrides.NONE);

    JsonNode job = worker("w").get(PULL + ".php?lease_sec=180").json().path("job");
    Reply done =
        worker("w").post(REPORT + ".php", body(id.toString(), attemptOf(job) + "\"done\": true"));

    assertThat(job.path("id").asString()).isEqualTo(id.toString());
    assertThat(done.json().path("done").asBoolean()).isTrue();
    assertThat(worker("w").get(PULL + "xphp").status()).isEqualTo(404);
    assertThat(worker("w").get(PULL + ".php").text()).isEqualTo("{\"job\":null}");
  }

  @Test
  void a_job_is_not_given_to_whoever_asks_for_headers_alone() {
    UUID id = enqueue(PolicyOverrides.NONE);

    assertThat(plain().send("HEAD", PULL, Optional.empty()).status()).isEqualTo(405);

    assertThat(row(id)).containsEntry("status", "queued");
  }

  @Test
  void another_queue_is_named_in_the_query_and_the_servers_own_are_not_to_be_had() {
    UUID id = tenant.jobs().enqueue(NewJob.of("scrape", 1).withQueue("leads")).id();

    assertThat(pull("w").isNull()).isTrue();
    assertThat(worker("w").get(PULL + "?queue=holdfast.webhooks").status()).isEqualTo(400);
    assertThat(worker("w").get(PULL + "?queue=leads").json().path("job").path("id").asString())
        .isEqualTo(id.toString());
  }

  @Test
  void many_workers_at_once_get_each_job_once() throws Exception {
    for (int i = 0; i < 40; i++) {
      enqueue(PolicyOverrides.NONE);
    }
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<JsonNode>> pulled =
          IntStream.range(0, 60).mapToObj(i -> threads.submit(() -> pull("w" + i))).toList();
      List<String> ids = new ArrayList<>();
      for (Future<JsonNode> job : pulled) {
        if (!job.get().isNull()) {
          ids.add(job.get().path("id").asString());
        }
      }
      assertThat(ids).doesNotHaveDuplicates();
      while (ids.size() < 40) { // whoever was stepped over by all of them
        ids.add(pull("late").path("id").asString());
      }
      assertThat(ids).doesNotHaveDuplicates().hasSize(40);
    }
    assertThat(pull("w").isNull()).isTrue();
  }

  @Test
  @Timeout(60)
  void a_worker_that_is_to_drain_is_given_nothing_more() {
    Caller operator = new Fleet(TestServer.open(), tenant).caller();
    do { // until it is known
      assertThat(pull("away").isNull()).isTrue();
    } while (operator.post("/api/v1/workers/away/drain", "{}").status() == 404);
    UUID id = enqueue(PolicyOverrides.NONE);
    for (JsonNode job = pull("away"); !job.isNull(); job = pull("away")) {
      report("away", job, "\"done\": true");
      id = enqueue(PolicyOverrides.NONE);
    }

    assertThat(pull("w").path("id").asString()).isEqualTo(id.toString());
  }
}
