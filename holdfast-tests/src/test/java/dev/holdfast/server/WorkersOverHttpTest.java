package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.fleet.WorkerState;
import dev.holdfast.job.Kind;
import dev.holdfast.server.auth.Role;
import dev.holdfast.testkit.TestTenant;
import dev.holdfast.worker.Worker;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;

/**
 * The list of workers, of whom several may have one name: a process is as many as it serves kinds.
 */
class WorkersOverHttpTest {

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

  private Worker worker() {
    return tenant
        .worker()
        .configure(config -> config.withName("twin"))
        .handle(Kind.of("k", Integer.class), (args, job) -> {})
        .start();
  }
}
