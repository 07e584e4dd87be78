package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.job.NewJob;
import dev.holdfast.server.Caller.Reply;
import dev.holdfast.server.auth.Role;
import dev.holdfast.testkit.TestTenant;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;

/** A worker that asks for leases over HTTP. Afterwards its tenant is sound. */
abstract class LeasesRig {

  static final String LEASES = "/api/v1/leases";

  @RegisterExtension final TestTenant tenant = new TestTenant();

  Caller worker;

  @BeforeEach
  void connect() {
    worker = TestServer.shared().as(Role.WORKER, tenant.name());
  }

  @AfterEach
  void isSound() {
    assertThat(tenant.invariants().check()).isEmpty();
  }

  UUID enqueue(String queue) {
    return tenant.jobs().enqueue(NewJob.of("deploy", 1).withQueue(queue)).id();
  }

  JsonNode claim(String name, String more) {
    Reply reply =
        worker.post(
            LEASES, "{\"worker\": \"%s\", \"queues\": [\"default\"]%s}".formatted(name, more));
    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
    return reply.json().path("leases");
  }

  JsonNode finish(String name, UUID id, long fence, String outcome) {
    Reply reply =
        worker.post(
            LEASES + "/finish",
            "{\"worker\": \"%s\", \"results\": [{\"job_id\": \"%s\", \"fence\": %d, %s}]}"
                .formatted(name, id, fence, outcome));
    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
    return reply.json().path("results").get(0);
  }

  static String keys(String name, UUID id, long fence) {
    return "{\"worker\": \"%s\", \"leases\": [{\"job_id\": \"%s\", \"fence\": %d}]}"
        .formatted(name, id, fence);
  }
}
