package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.server.Caller.Reply;
import dev.holdfast.testkit.TestTenant;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A tenant's agents. */
abstract class AgentsRig {

  @RegisterExtension final TestTenant tenant = new TestTenant();
  Fleet fleet;

  @BeforeEach
  void gather() {
    fleet = new Fleet(TestServer.open(), tenant);
    tenant.stopClock(); // preferences, leases and silence are about seconds
  }

  /** How a job gets into each status that an agent can have it in. */
  String inStatus(String status) {
    fleet.submit();
    String id = fleet.take("a");
    switch (status) {
      case "dispatched" -> {}
      case "stop_requested" -> {
        fleet.report("a", id, "running");
        fleet.caller().post("/stop/" + id, "");
      }
      case "finished", "failed", "stopped", "canceled" -> {
        fleet.report("a", id, "running");
        fleet.report("a", id, status);
      }
      case "queued" -> fleet.report("a", id, "queued");
      default -> fleet.report("a", id, status);
    }
    assertThat(fleet.status(id)).isEqualTo(status);
    return id;
  }

  void requeue(String id, String json) {
    Reply reply = fleet.caller().post("/ops/jobs/" + id + "/requeue", json);
    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
  }
}
