package dev.holdfast.hold;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.job.NewJob;
import dev.holdfast.lease.ClaimRequest;
import dev.holdfast.lease.Lease;
import java.util.Set;
import org.junit.jupiter.api.Test;

class PrunerTest extends EngineTest {

  private static final NewJob JOB = NewJob.of("deploy", 1);

  @Test
  void a_resource_that_nobody_needs_is_forgotten_and_comes_back_with_the_next_job() {
    enqueue(JOB.withResources("site:1"));
    succeed(claim(1).getFirst());

    prune();

    assertThat(tenant.resources().names("", 10)).isEmpty();
    enqueue(JOB.withResources("site:1"));
    assertThat(claim(1)).hasSize(1);
  }

  @Test
  void a_claimer_that_remembers_a_forgotten_resource_makes_it_anew_in_the_same_claim() {
    var leases = leases();
    var request = ClaimRequest.of("w", Set.of("default"), 1);
    for (int i = 0; i < 2; i++) { // made by the first, remembered by the second
      enqueue(JOB.withResources("site:1"));
      succeed(leases.claim(request).leases().getFirst());
    }
    prune();
    enqueue(JOB.withResources("site:1"));
    assertThat(leases.claim(request).leases()).hasSize(1);

    assertThat(tenant.resources().get("site:1").holders()).hasSize(1);
  }

  @Test
  void a_resource_that_is_held_or_waited_for_or_has_a_capacity_of_its_own_stays() {
    tenant.resources().setCapacity("pool", 2, ADA);
    enqueue(JOB.withResources("a"));
    Lease a = claim(1).getFirst();
    enqueue(JOB.withResources("a", "b"));
    claim(1);

    prune();

    assertThat(tenant.resources().names("", 10)).containsExactly("a", "pool");
    succeed(a);
    assertThat(claim(1)).hasSize(1);
  }

  private void prune() {
    tenant.tenant().db().jdbi().useTransaction(new Pruner(tenant.tenant().db())::prune);
  }
}
