package dev.holdfast.lease;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.hold.EngineRig;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Placement;
import dev.holdfast.lease.Claims.Answer;
import dev.holdfast.lease.ContestedClaims.Granted;
import dev.holdfast.queue.QueueSettings;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** What a claim that stood still between its two statements may do with what the first one said. */
class StaleCandidatesTest extends EngineRig {

  private static final NewJob DEPLOY = NewJob.of("deploy", 1).withResources("site:1");
  private static final ClaimRequest REQUEST = ClaimRequest.of("worker", Set.of("default"), 1);

  @Test
  void a_job_that_meanwhile_needs_another_host_is_not_granted_here() {
    UUID job = enqueue(DEPLOY);
    Answer seen = look();

    tenant.acts().place(job, Placement.requiring("elsewhere"), ADA);

    assertThat(grant(seen).leases()).isEmpty();
  }

  @Test
  void a_job_whose_queue_was_paused_meanwhile_is_not_granted() {
    enqueue(DEPLOY);
    Answer seen = look();

    tenant.queues().put("default", QueueSettings.DEFAULTS.withPaused(true));

    assertThat(grant(seen).leases()).isEmpty();
  }

  @Test
  void a_job_that_is_as_it_was_is_granted() {
    UUID job = enqueue(DEPLOY);

    assertThat(ids(grant(look()).leases())).containsExactly(job);
  }

  private Answer look() {
    LeaseRow row = LeaseRow.of(tenant.tenant());
    Claims claims = new Claims(tenant.tenant().db(), row, Set::of, new LanePositions(() -> 0));
    return tenant.tenant().db().withHandle(handle -> claims.claim(handle, REQUEST));
  }

  private Granted grant(Answer seen) {
    ContestedClaims claims =
        new ContestedClaims(tenant.tenant().db(), LeaseRow.of(tenant.tenant()));
    return tenant
        .tenant()
        .db()
        .inTransaction(handle -> claims.claim(handle, REQUEST, seen.contested()));
  }
}
