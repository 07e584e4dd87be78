package dev.holdfast.lease;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.job.NewJob;
import dev.holdfast.lease.RemoteLeases.Dealt;
import dev.holdfast.testkit.TestTenant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** One claim for many workers that wait. */
@Timeout(60)
class SharedClaimsTest {

  @RegisterExtension final TestTenant tenant = new TestTenant();

  @Test
  void of_two_workers_that_ask_under_one_claim_id_at_once_the_first_gets_jobs() {
    tenant.jobs().enqueueAll(List.of(NewJob.of("kind", 1), NewJob.of("kind", 2)));
    RemoteLeases leases =
        new PgLeases(
                tenant.tenant(), Set::of, new LanePositions(System::nanoTime), () -> 0, () -> {})
            .remote();
    List<ClaimRequest> both =
        List.of(asking("one").withClaimId("1"), asking("other").withClaimId("1"));

    Dealt first = leases.claimForAll(both);
    Dealt again = leases.claimForAll(both);

    assertThat(keys(first)).hasSize(1);
    assertThat(first.hands().getLast()).as("keeps waiting").isEmpty();
    assertThat(keys(again)).isEqualTo(keys(first));
    assertThat(again.hands().getLast()).isEqualTo(Optional.of(List.of()));
  }

  private static List<LeaseKey> keys(Dealt dealt) {
    return dealt.hands().getFirst().orElseThrow().stream().map(Lease::key).toList();
  }

  private static ClaimRequest asking(String worker) {
    return ClaimRequest.of(worker, Set.of("default"), 1);
  }
}
