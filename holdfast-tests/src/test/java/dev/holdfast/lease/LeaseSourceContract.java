package dev.holdfast.lease;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.audit.Act;
import dev.holdfast.job.NewJob;
import dev.holdfast.lease.Extension.Status;
import dev.holdfast.queue.QueueSettings;
import dev.holdfast.testkit.Covers;
import dev.holdfast.testkit.TestDatabase;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/**
 * What every source of leases promises. Run against each implementation. The rules of claims, ends
 * and reports stand in the classes it extends; here are those of beats.
 */
abstract class LeaseSourceContract extends ReportContract {

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
  void a_lease_keeps_its_length_whatever_its_queue_says_by_now() {
    slowBy(Duration.ofMinutes(5));
    UUID plain = enqueue(NewJob.of("email", 1).withQueue("slow"));
    UUID contested = enqueue(NewJob.of("deploy", 1).withQueue("slow").withResources("site:1"));
    List<Lease> held = leases().claim(anyKind("worker", 2).withQueues(Set.of("slow"))).leases();
    slowBy(Duration.ofSeconds(2));
    tenant.advance(Duration.ofSeconds(20));

    leases().extend(held);

    assertThat(held).hasSize(2);
    for (UUID job : List.of(plain, contested)) {
      assertThat(tenant.job(job).lease().orElseThrow().expiresAt())
          .isAfterOrEqualTo(held.getFirst().expiresAt().plusSeconds(20));
    }
  }

  private void slowBy(Duration leaseLength) {
    tenant.queues().put("slow", QueueSettings.DEFAULTS.withDefaults(lease(leaseLength)));
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
  void a_row_locked_by_somebody_does_not_keep_the_other_leases_from_being_renewed()
      throws Exception {
    enqueue(NewJob.of("email", 1));
    enqueue(NewJob.of("email", 2));
    List<Lease> held = claim("worker", 2);
    String lock = tenant.tenant().db().sql("SELECT FROM {schema}.job WHERE id = ? FOR UPDATE");

    try (Connection other = TestDatabase.shared().dataSource().getConnection()) {
      other.setAutoCommit(false);
      try (var statement = other.prepareStatement(lock)) {
        statement.setObject(1, held.get(0).key().jobId());
        statement.execute();
      }

      List<Extension> extensions = leases().extend(held);

      assertThat(extensions)
          .extracting(Extension::status)
          .containsExactly(Status.BUSY, Status.EXTENDED);
      other.rollback();
    }
  }
}
