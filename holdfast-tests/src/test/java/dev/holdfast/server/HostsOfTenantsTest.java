package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.server.auth.Role;
import dev.holdfast.testkit.TestTenant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;

/** Which hosts are there is a tenant's own affair. */
class HostsOfTenantsTest {

  @RegisterExtension final TestTenant tenant = new TestTenant();
  @RegisterExtension final TestTenant other = new TestTenant();

  @Test
  void a_job_does_not_wait_for_a_host_that_is_another_tenants() {
    tenant.stopClock(); // a preferred host is waited for for seconds
    Caller stranger = TestServer.shared().as(Role.OPERATOR, other.name());
    Caller caller = TestServer.shared().as(Role.OPERATOR, tenant.name());
    claim(stranger, "gpu");
    while (stranger.get("/api/v1/workers").json().path("workers").isEmpty()) {
      claim(stranger, "gpu");
    }
    String job =
        caller
            .post("/api/v1/jobs", "{\"kind\": \"a\", \"preferred_host\": \"gpu\"}")
            .json()
            .path("id")
            .asString();

    JsonNode leases = claim(caller, "another");

    assertThat(leases).hasSize(1);
    assertThat(leases.path(0).path("job").path("id").asString()).isEqualTo(job);
  }

  @Test
  void it_waits_for_one_of_its_own() {
    tenant.stopClock();
    Caller caller = TestServer.shared().as(Role.OPERATOR, tenant.name());
    JsonNode others;
    do { // until the node has heard of the host
      claim(caller, "gpu");
      caller.post("/api/v1/jobs", "{\"kind\": \"a\", \"preferred_host\": \"gpu\"}");
      others = claim(caller, "another");
    } while (!others.isEmpty());

    assertThat(claim(caller, "gpu")).hasSize(1);
  }

  @Test
  @Timeout(60)
  void it_does_not_wait_for_one_whose_worker_drains() {
    tenant.stopClock();
    Caller caller = TestServer.shared().as(Role.OPERATOR, tenant.name());
    do { // until it is known
      claim(caller, "gpu");
    } while (caller.post("/api/v1/workers/at-gpu/drain", "{}").status() == 404);
    while (!ask(caller, "gpu").path("drain").asBoolean()) {
      claim(caller, "another");
    }
    caller.post("/api/v1/jobs", "{\"kind\": \"a\", \"preferred_host\": \"gpu\"}");

    assertThat(claim(caller, "another")).hasSize(1);
  }

  private static JsonNode claim(Caller caller, String host) {
    return ask(caller, host).path("leases");
  }

  private static JsonNode ask(Caller caller, String host) {
    return caller
        .post(
            "/api/v1/leases",
            "{\"worker\": \"at-%1$s\", \"host\": \"%1$s\", \"queues\": [\"default\"]}"
                .formatted(host))
        .json();
  }
}
