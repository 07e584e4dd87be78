package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.job.Job;
import dev.holdfast.job.JobState;
import dev.holdfast.job.NewJob;
import dev.holdfast.queue.JobFilter;
import dev.holdfast.server.auth.Role;
import dev.holdfast.testkit.TestTenant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;

/** Several nodes on one database, and nodes that come and go under load. */
class NodesTest {

  private static final int JOBS = 300;

  @RegisterExtension final TestTenant tenant = new TestTenant();

  @Test
  void whoever_waits_at_one_node_hears_what_is_enqueued_at_another() throws Exception {
    try (TestServer one = TestServer.start();
        TestServer two = TestServer.start();
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Caller worker = one.as(Role.WORKER, tenant.name());
      Future<JsonNode> waiting =
          threads.submit(() ->
              worker
                  .post(
                      "/api/v1/leases",
                      "{\"worker\": \"w\", \"queues\": [\"default\"], \"wait_seconds\": 30}")
                  .json());
      String id =
          two.as(Role.SUBMITTER, tenant.name())
              .post("/api/v1/jobs", "{\"kind\": \"a\"}")
              .json()
              .path("id")
              .asString();

      assertThat(waiting.get().path("leases").get(0).path("job").path("id").asString())
          .isEqualTo(id);
    }
  }

  @Test
  void while_nodes_are_restarted_no_job_fails_and_none_is_done_twice() throws Exception {
    tenant.jobs().enqueueAll(IntStream.range(0, JOBS).mapToObj(i -> NewJob.of("work", i)).toList());
    List<TestServer> nodes = new ArrayList<>(List.of(TestServer.start(), TestServer.start()));
    Set<Integer> ports = ConcurrentHashMap.newKeySet();
    nodes.forEach(node -> ports.add(node.port()));
    String token = nodes.getFirst().token(Role.WORKER, Optional.of(tenant.name()));
    AtomicInteger done = new AtomicInteger();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<Integer>> workers =
          IntStream.range(0, 8)
              .mapToObj(i -> (Callable<Integer>) () -> work("w" + i, token, ports, done))
              .map(threads::submit)
              .toList();
      for (int restart = 0; restart < 4; restart++) {
        TestServer old = nodes.removeFirst();
        TestServer fresh = TestServer.start();
        nodes.add(fresh);
        ports.add(fresh.port());
        ports.remove(old.port());
        old.close();
      }
      for (Future<Integer> worker : workers) {
        worker.get();
      }
    } finally {
      nodes.forEach(TestServer::close);
    }

    List<Job> jobs = tenant.jobs().list(JobFilter.ALL, Optional.empty(), 1_000).jobs();
    assertThat(jobs).hasSize(JOBS).allMatch(job -> job.state() == JobState.SUCCEEDED);
    assertThat(jobs).allMatch(job -> job.attempt() == 1);
    assertThat(tenant.query("SELECT job_id FROM {schema}.attempt")).isEmpty();
    assertThat(tenant.invariants().check()).isEmpty();
  }

  // Any node will do, and one that is gone is tried elsewhere under the same claim id: as every
  // client has to.
  private static int work(String name, String token, Set<Integer> ports, AtomicInteger done) {
    try {
      return workUntilDone(name, token, ports, done);
    } finally {
      done.addAndGet(JOBS); // whether all is done or this one failed, nobody need go on
    }
  }

  private static int workUntilDone(
      String name, String token, Set<Integer> ports, AtomicInteger done) {
    int mine = 0;
    for (int turn = 0; done.get() < JOBS; turn++) {
      String claim =
          "{\"worker\": \"%s\", \"queues\": [\"default\"], \"limit\": 3, \"wait_seconds\": 1, \"claim_id\": \"%s-%d\"}"
              .formatted(name, name, turn);
      for (JsonNode lease : insist("/api/v1/leases", token, ports, claim).path("leases")) {
        String finish =
            """
            {"worker": "%s", "results": [{"job_id": "%s", "fence": %d, "outcome": "succeeded"}]}
            """
                .formatted(
                    name, lease.path("job").path("id").asString(), lease.path("fence").asLong());
        JsonNode result =
            insist("/api/v1/leases/finish", token, ports, finish).path("results").get(0);
        assertThat(result.path("status").asString()).isEqualTo("recorded");
        done.incrementAndGet();
        mine++;
      }
    }
    return mine;
  }

  private static JsonNode insist(String path, String token, Set<Integer> ports, String body) {
    while (true) {
      for (int port : ports) {
        try {
          Caller.Reply reply =
              new Caller(port, Optional.of(token), Optional.empty()).post(path, body);
          if (reply.status() == 200) {
            return reply.json();
          }
        } catch (IllegalStateException e) {
          // that node is going, or gone
        }
      }
    }
  }
}
