package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.job.NewJob;
import dev.holdfast.server.auth.Role;
import dev.holdfast.tenant.TenantName;
import dev.holdfast.testkit.TestTenant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tenants do not see each other, however one server serves them. */
class ManyTenantsTest {

  @RegisterExtension final TestTenant one = new TestTenant();
  @RegisterExtension final TestTenant two = new TestTenant();
  @RegisterExtension final TestTenant three = new TestTenant();

  @Test
  void what_is_asked_of_one_in_turn_with_others_is_answered_by_that_one() {
    List<TestTenant> tenants = List.of(one, two, three);
    String token = TestServer.shared().token(Role.SYSTEM, Optional.empty());
    tenants.forEach(tenant -> tenant.jobs().enqueue(NewJob.of("of_" + tenant.name(), 1)));
    List<String> seen = new ArrayList<>();
    for (int round = 0; round < 5; round++) {
      for (TestTenant tenant : tenants) {
        Caller caller =
            new Caller(TestServer.shared().port(), Optional.of(token), Optional.of(tenant.name()));
        var jobs = caller.get("/api/v1/jobs").json().path("jobs");
        assertThat(jobs.size()).isEqualTo(1);
        seen.add(jobs.get(0).path("kind").asString());
      }
    }

    for (int i = 0; i < seen.size(); i++) {
      assertThat(seen.get(i)).isEqualTo("of_" + tenants.get(i % 3).name());
    }
    assertThat(
            new Caller(
                    TestServer.shared().port(),
                    Optional.of(token),
                    Optional.of(new TenantName("nobody_made_it")))
                .get("/api/v1/jobs")
                .status())
        .isEqualTo(404);
  }
}
