package dev.holdfast.invariant;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.audit.Act;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Outcome;
import dev.holdfast.lease.ClaimRequest;
import dev.holdfast.lease.Finish;
import dev.holdfast.lease.Lease;
import dev.holdfast.lease.LeaseSource;
import dev.holdfast.testkit.TestTenant;
import java.util.List;
import java.util.Set;
import java.util.UUID;

/** A tenant whose jobs are claimed, finished and reaped by hand. Thread-safe. */
record AtWork(TestTenant tenant) {

  static final Act ADA = Act.by("ada");

  UUID enqueue(NewJob job) {
    return tenant.jobs().enqueue(job).id();
  }

  /** Everything that can run, runs. */
  List<Lease> claim() {
    return claim(ClaimRequest.of("worker", Set.of("default"), 100));
  }

  List<Lease> claim(ClaimRequest request) {
    return leases().claim(request).leases();
  }

  /** The only job that can run. */
  Lease claimOne() {
    List<Lease> claimed = claim();
    assertThat(claimed).hasSize(1);
    return claimed.getFirst();
  }

  void finish(Lease lease, Outcome outcome) {
    leases().finish(List.of(new Finish(lease, outcome)));
  }

  void succeed(Lease lease) {
    finish(lease, Outcome.succeeded());
  }

  void reap() {
    tenant.reap();
  }

  void isSound() {
    assertThat(tenant.invariants().check()).isEmpty();
  }

  LeaseSource leases() {
    return tenant.leases();
  }
}
