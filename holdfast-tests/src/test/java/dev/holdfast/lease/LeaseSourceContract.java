package dev.holdfast.lease;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.audit.Act;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Outcome;
import dev.holdfast.job.Progress;
import dev.holdfast.lease.Extension.Status;
import dev.holdfast.testkit.Covers;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/**
 * What every source of leases promises. Run against each implementation. The rules of claims and of
 * ends stand in the classes it extends; here are those of what comes between.
 */
abstract class LeaseSourceContract extends FinishContract {

  @Test
  @Covers("B5")
  void a_beat_renews_the_lease_for_its_full_length() {
    UUID id = enqueue(NewJob.of("email", 1));
    Lease lease = claimOne("worker");
    Instant before = tenant.job(id).lease().orElseThrow().expiresAt();
    tenant.advance(Duration.ofSeconds(20));

    List<Extension> extensions = leases().extend(List.of(lease));

    assertThat(extensions).containsExactly(new Extension(lease.key(), Status.EXTENDED));
    assertThat(tenant.job(id).lease().orElseThrow().expiresAt())
        .isAfterOrEqualTo(before.plusSeconds(20));
  }

  @Test
  @Covers("B5")
  void a_beat_hears_that_somebody_wants_the_job_to_stop() {
    UUID id = enqueue(NewJob.of("email", 1));
    Lease lease = claimOne("worker");
    tenant.acts().stop(id, Act.by("ada"));

    List<Extension> extensions = leases().extend(List.of(lease));

    assertThat(extensions).containsExactly(new Extension(lease.key(), Status.STOP_REQUESTED));
  }

  @Test
  void a_lost_lease_cannot_be_extended_and_the_others_are() {
    enqueue(NewJob.of("email", 1));
    Lease lost = claimOne("worker-a");
    expireAndReap();
    Lease current = claimOne("worker-b");

    List<Extension> extensions = leases().extend(List.of(lost, current));

    assertThat(extensions)
        .containsExactly(
            new Extension(lost.key(), Status.LOST), new Extension(current.key(), Status.EXTENDED));
  }

  @Test
  void progress_is_handed_to_the_next_attempt() {
    enqueue(NewJob.of("email", 1));
    Lease lease = claimOne("worker");
    Progress progress = Progress.NONE.withCursor("page-7").withProgressCount(70).withPercent(12.5);

    boolean stored = leases().report(lease.key(), Report.of(progress));
    finish(lease, new Outcome.Released("closing"));

    assertThat(stored).isTrue();
    assertThat(claimOne("worker").progress()).isEqualTo(progress);
  }

  @Test
  void a_worker_that_lost_its_lease_can_store_nothing() {
    UUID id = enqueue(NewJob.of("email", 1));
    Lease lost = claimOne("worker-a");
    expireAndReap();
    claimOne("worker-b");

    Report report =
        new Report(Progress.NONE.withCursor("zombie"), List.of("zombie was here"), 10, 10);

    assertThat(leases().report(lost.key(), report)).isFalse();
    assertThat(leases().report(lost.key(), Report.ofLog(List.of("still here")))).isFalse();
    assertThat(tenant.job(id).progress()).isEqualTo(Progress.NONE);
    assertThat(tenant.jobs().log(id)).isEmpty();
  }

  @Test
  void log_lines_are_kept_in_order_across_attempts() {
    UUID id = enqueue(NewJob.of("email", 1));
    Lease first = claimOne("worker");
    leases().report(first.key(), Report.ofLog(List.of("one", "two")));
    finish(first, new Outcome.Released("closing"));
    Lease second = claimOne("worker");
    leases().report(second.key(), Report.ofLog(List.of("three")));

    assertThat(tenant.jobs().log(id)).containsExactly("one", "two", "three");
  }
}
