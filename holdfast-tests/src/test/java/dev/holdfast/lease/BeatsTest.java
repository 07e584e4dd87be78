package dev.holdfast.lease;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.audit.Act;
import dev.holdfast.job.NewJob;
import dev.holdfast.queue.QueueSettings;
import dev.holdfast.testkit.Covers;
import dev.holdfast.testkit.TestTenant;
import dev.holdfast.worker.WorkerConfig;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

@Covers("B5")
class BeatsTest {

  private static final NewJob EMAIL = NewJob.of("email", "ada");

  @RegisterExtension final TestTenant tenant = new TestTenant();

  @Test
  void leases_are_renewed_every_two_seconds_unless_configured_otherwise() {
    assertThat(WorkerConfig.defaults().heartbeatInterval()).isEqualTo(Duration.ofSeconds(2));
  }

  @Test
  void a_beat_makes_the_lease_run_anew_from_now() {
    UUID id = tenant.jobs().enqueue(EMAIL).id();
    Lease lease = claim(1).getFirst();
    Instant before = tenant.job(id).lease().orElseThrow().expiresAt();
    tenant.advance(Duration.ofSeconds(20));

    List<Extension> extensions = tenant.leases().extend(List.of(lease));

    assertThat(extensions).containsExactly(new Extension(lease.key(), Extension.Status.EXTENDED));
    assertThat(tenant.job(id).lease().orElseThrow().expiresAt())
        .isAfterOrEqualTo(before.plusSeconds(20));
  }

  @Test
  void a_beat_brings_back_a_request_to_stop_and_still_renews() {
    UUID id = tenant.jobs().enqueue(EMAIL).id();
    Lease lease = claim(1).getFirst();
    Instant before = tenant.job(id).lease().orElseThrow().expiresAt();
    tenant.acts().stop(id, Act.by("ada"));
    tenant.advance(Duration.ofSeconds(20));

    List<Extension> extensions = tenant.leases().extend(List.of(lease));

    assertThat(extensions)
        .containsExactly(new Extension(lease.key(), Extension.Status.STOP_REQUESTED));
    assertThat(tenant.job(id).lease().orElseThrow().expiresAt())
        .isAfterOrEqualTo(before.plusSeconds(20));
  }

  @Test
  void one_beat_answers_for_every_lease_in_the_order_asked() {
    tenant.jobs().enqueueAll(Collections.nCopies(3, EMAIL));
    List<Lease> claimed = claim(3);
    tenant.acts().stop(claimed.get(1).key().jobId(), Act.by("ada"));
    tenant.execute("DELETE FROM {schema}.job WHERE id = '" + claimed.get(2).key().jobId() + "'");

    List<Extension> extensions = tenant.leases().extend(claimed);

    assertThat(extensions)
        .containsExactly(
            new Extension(claimed.get(0).key(), Extension.Status.EXTENDED),
            new Extension(claimed.get(1).key(), Extension.Status.STOP_REQUESTED),
            new Extension(claimed.get(2).key(), Extension.Status.LOST));
  }

  @Test
  void a_beat_that_says_no_length_renews_a_lease_for_the_length_it_has() {
    UUID id = tenant.jobs().enqueue(EMAIL).id();
    Duration asked = Duration.ofMinutes(10);
    ClaimRequest request = ClaimRequest.of("host-1", Set.of("default"), 1).withLeaseLength(asked);
    Lease lease = tenant.leases().claim(request).leases().getFirst();
    tenant.advance(Duration.ofSeconds(20));

    tenant.leases().remote().extend("host-1", List.of(lease.key()), Optional.empty());

    assertThat(tenant.job(id).lease().orElseThrow().expiresAt())
        .isAfterOrEqualTo(lease.expiresAt().plusSeconds(20));
  }

  @Test
  void nor_does_it_matter_to_such_a_beat_what_the_queue_says_by_now() {
    QueueSettings slow =
        QueueSettings.DEFAULTS.withDefaults(LeaseWords.lease(Duration.ofMinutes(5)));
    tenant.queues().put("default", slow);
    UUID id = tenant.jobs().enqueue(EMAIL).id();
    Lease lease = claim(1).getFirst();
    tenant.queues().put("default", QueueSettings.DEFAULTS);
    tenant.advance(Duration.ofSeconds(20));

    tenant.leases().remote().extend("host-1", List.of(lease.key()), Optional.empty());

    assertThat(tenant.job(id).lease().orElseThrow().expiresAt())
        .isAfterOrEqualTo(lease.expiresAt().plusSeconds(20));
  }

  @Test
  void a_beat_that_says_the_policys_length_makes_it_that_again() {
    UUID id = tenant.jobs().enqueue(EMAIL).id();
    Lease lease = claim(1).getFirst();
    List<LeaseKey> key = List.of(lease.key());
    for (Duration length : List.of(Duration.ofMinutes(10), lease.policy().leaseLength())) {
      tenant.leases().remote().extend("host-1", key, Optional.of(length));
    }
    tenant.advance(Duration.ofSeconds(20));

    tenant.leases().remote().extend("host-1", key, Optional.empty());

    assertThat(tenant.job(id).lease().orElseThrow().expiresAt())
        .isBetween(lease.expiresAt().plusSeconds(20), lease.expiresAt().plusSeconds(80));
  }

  private List<Lease> claim(int limit) {
    return tenant.leases().claim(ClaimRequest.of("host-1", Set.of("default"), limit)).leases();
  }
}
