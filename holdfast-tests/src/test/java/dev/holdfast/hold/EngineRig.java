package dev.holdfast.hold;

import dev.holdfast.audit.Act;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Outcome;
import dev.holdfast.lease.ClaimRequest;
import dev.holdfast.lease.Finish;
import dev.holdfast.lease.FinishReply;
import dev.holdfast.lease.Lease;
import dev.holdfast.lease.LeaseSource;
import dev.holdfast.testkit.TestTenant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Jobs with needs, claimed and finished by hand. */
public abstract class EngineRig {

  protected static final Act ADA = Act.by("ada");

  @RegisterExtension protected final TestTenant tenant = new TestTenant();

  protected UUID enqueue(NewJob job) {
    return tenant.jobs().enqueue(job).id();
  }

  protected List<Lease> claim(int limit) {
    return leases().claim(ClaimRequest.of("worker", Set.of("default"), limit)).leases();
  }

  protected List<Lease> claimKind(String kind, int limit) {
    return leases()
        .claim(ClaimRequest.of("worker", Set.of("default"), limit).withKinds(Set.of(kind)))
        .leases();
  }

  /** The one job that can be claimed now; empty when there is none. */
  protected Optional<UUID> next() {
    return claim(1).stream().findFirst().map(lease -> lease.key().jobId());
  }

  protected static List<UUID> ids(List<Lease> leases) {
    return leases.stream().map(lease -> lease.key().jobId()).toList();
  }

  protected FinishReply finish(Lease lease, Outcome outcome) {
    return leases().finish(List.of(new Finish(lease, outcome))).getFirst();
  }

  protected void succeed(Lease lease) {
    finish(lease, Outcome.succeeded());
  }

  protected void reap() {
    tenant.reap();
  }

  protected LeaseSource leases() {
    return tenant.leases();
  }
}
