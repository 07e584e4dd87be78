package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.server.auth.Role;
import dev.holdfast.testkit.TestTenant;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Figures are of all tenants, and names among them are not for all to see. */
class FiguresTest {

  @RegisterExtension final TestTenant tenant = new TestTenant();
  @RegisterExtension final TestTenant other = new TestTenant();

  @Test
  void names_of_anybodys_things_can_be_left_out() {
    Figures figures = new Figures();
    figures
        .registry()
        .timer("holdfast.attempt", "outcome", "failed", "queue", "canary-q", "kind", "canary-k")
        .record(Duration.ofSeconds(1));
    figures.registry().counter("holdfast.schedule.rows", "schedule", "canary-s").increment();
    figures.registry().counter("holdfast.lease.lost").increment();

    assertThat(figures.text()).contains("canary-q", "canary-k", "canary-s");
    assertThat(figures.textWithoutNames())
        .doesNotContain("canary")
        .contains("holdfast_lease_lost_total 1.0", "jvm_memory");
  }

  @Test
  void a_tenants_token_gets_them_without_names_where_there_are_other_tenants() {
    String kind = "canary-" + other.name();
    TestServer server = TestServer.shared();
    server
        .server()
        .figures()
        .registry()
        .timer("holdfast.attempt", "outcome", "failed", "queue", "default", "kind", kind)
        .record(Duration.ofSeconds(1));

    assertThat(server.as(Role.SYSTEM, tenant.name()).get("/metrics").text()).contains(kind);
    for (Role role : Role.values()) {
      if (role != Role.SYSTEM) {
        assertThat(server.as(role, tenant.name()).get("/metrics").text())
            .as(role.stored())
            .doesNotContain(kind);
      }
    }
  }
}
