package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.fleet.RemoteWorkers;
import dev.holdfast.fleet.WorkerState;
import dev.holdfast.job.Kind;
import dev.holdfast.server.Caller.Reply;
import dev.holdfast.server.auth.Role;
import dev.holdfast.tenant.Db;
import dev.holdfast.testkit.TestTenant;
import dev.holdfast.worker.Worker;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;

/**
 * The list of workers, of whom several may have one name: a process is as many as it serves kinds.
 */
class WorkersOverHttpTest {

  private static final String BEAT = "/api/v1/workers/heartbeat";

  @RegisterExtension final TestTenant tenant = new TestTenant();

  @Test
  void workers_of_one_name_are_all_listed_page_by_page() {
    try (Worker one = worker();
        Worker two = worker();
        Worker three = worker()) {
      Caller viewer = TestServer.shared().as(Role.VIEWER, tenant.name());
      List<String> seen = new ArrayList<>();
      Optional<String> after = Optional.of("");
      while (after.isPresent()) {
        JsonNode page = viewer.get("/api/v1/workers?limit=1&after=" + after.get()).json();
        page.path("workers").forEach(each -> seen.add(each.path("name").asString()));
        assertThat(page.path("workers").size()).isLessThanOrEqualTo(1);
        after = page.path("after").stringValueOpt();
      }

      assertThat(List.of(one.name(), two.name(), three.name())).containsOnly("twin");
      assertThat(seen).filteredOn("twin"::equals).hasSize(3);
      assertThat(tenant.holdfast().workers().list(tenant.name(), "twin", 10))
          .extracting(WorkerState::place)
          .noneMatch(place -> place.startsWith("twin/"));
    }
  }

  @Test
  void who_makes_up_names_of_workers_keeps_nobody_from_work() {
    Caller known = TestServer.shared().as(Role.WORKER, tenant.name());
    assertThat(known.post(BEAT, beat("known")).status()).isEqualTo(200);
    Db control = tenant.holdfast().tenants().control();
    String fill =
        """
        INSERT INTO {schema}.worker (incarnation, name, host, labels, tenant, queues)
        SELECT gen_random_uuid(), 'made-up-' || n, 'h', '{}', ?, '{}'
          FROM generate_series(1, ?) AS n
        """;
    control.useHandle(
        handle -> handle.execute(control.sql(fill), tenant.name().value(), RemoteWorkers.MOST));
    Caller stranger = TestServer.shared().as(Role.WORKER, tenant.name());
    int tries = 0;
    while (!stranger.post(BEAT, beat("new-" + tries++)).text().contains("TOO_MANY_WORKERS")) {
      assertThat(tries).isLessThan(1_000_000); // the node looks every few seconds
    }

    Caller newcomer = TestServer.shared().as(Role.WORKER, tenant.name());
    PlainHttp puller =
        PlainHttp.at(TestServer.shared().addressOf(tenant.name()))
            .with(
                Map.of(
                    "Authorization",
                    "Bearer " + newcomer.token().orElseThrow(),
                    "X-Worker-Id",
                    "newcomer"));
    Reply refused = newcomer.post(BEAT, beat("newcomer"));
    List<Reply> served =
        List.of(
            newcomer.post("/api/v1/leases", beat("newcomer")),
            newcomer.post("/api/agent/next-job", "{\"worker_id\": \"newcomer\"}"),
            newcomer.post("/api/agent/heartbeat", "{\"worker_id\": \"newcomer\"}"),
            puller.get("/api/pull_job"));

    assertThat(refused.status()).isEqualTo(429);
    assertThat(refused.text()).contains("worker").contains("" + RemoteWorkers.MOST);
    assertThat(served).allSatisfy(reply -> assertThat(reply.status()).isIn(200, 204));
    assertThat(known.post(BEAT, beat("known")).status()).isEqualTo(200);
    assertThat(known.post("/api/v1/leases", beat("known")).status()).isEqualTo(200);
  }

  private static String beat(String name) {
    return "{\"worker\": \"%s\", \"queues\": [\"default\"]}".formatted(name);
  }

  private Worker worker() {
    return tenant
        .worker()
        .configure(config -> config.withName("twin"))
        .handle(Kind.of("k", Integer.class), (args, job) -> {})
        .start();
  }
}
