package dev.holdfast.lease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.holdfast.job.Job;
import dev.holdfast.job.JobState;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Outcome;
import dev.holdfast.job.Placement;
import dev.holdfast.queue.QueueSettings;
import dev.holdfast.testkit.Covers;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What every source of leases promises about claims. */
abstract class ClaimContract extends LeaseWords {

  @Test
  @Covers({"A6", "B4"})
  void a_claim_makes_the_job_running_under_the_workers_name_until_the_lease_ends() {
    UUID id = enqueue(NewJob.of("email", Map.of("to", "ada")));

    Lease lease = claimOne("worker-a");

    Job job = tenant.job(id);
    assertThat(job.state()).isEqualTo(JobState.RUNNING);
    assertThat(job.lease().orElseThrow().owner()).isEqualTo("worker-a");
    assertThat(job.startedAt()).isPresent();
    assertThat(job.attempt()).isEqualTo(1);
    assertThat(job.fence()).isEqualTo(lease.key().fence()).isPositive();
    assertThat(job.lease().orElseThrow().expiresAt())
        .isCloseTo(job.startedAt().orElseThrow().plusSeconds(30), within(1, ChronoUnit.MILLIS));
    assertThat(lease.args().json()).isEqualTo("{\"to\":\"ada\"}");
  }

  @Test
  void a_leased_job_is_not_given_to_anybody_else() {
    enqueue(NewJob.of("email", "x"));
    claimOne("worker-a");

    assertThat(claim("worker-b", 10)).isEmpty();
  }

  @Test
  void a_claim_brings_no_more_jobs_than_asked_for() {
    IntStream.range(0, 20).forEach(i -> enqueue(NewJob.of(i % 2 == 0 ? "even" : "odd", i)));

    List<Lease> leases = leases().claim(anyKind("worker-a", 7)).leases();

    assertThat(leases).hasSize(7);
    assertThat(tenant.query("SELECT id FROM {schema}.job WHERE state = 'running'")).hasSize(7);
  }

  @Test
  void jobs_come_by_priority_then_due_time_then_order_of_enqueue_across_kinds() {
    Instant due = Instant.parse("2020-01-01T00:00:00Z");
    UUID third = enqueue(NewJob.of("a", 3).withRunAt(due.plusSeconds(1)));
    UUID fourth = enqueue(NewJob.of("b", 4).withRunAt(due.plusSeconds(1)));
    UUID second = enqueue(NewJob.of("b", 2).withRunAt(due));
    UUID fifth = enqueue(NewJob.of("a", 5).withPriority(7).withRunAt(due));
    UUID first = enqueue(NewJob.of("c", 1).withPriority(-3).withRunAt(due.plusSeconds(9)));

    List<UUID> firstTwo = ids(leases().claim(anyKind("worker", 2)).leases());
    List<UUID> rest = ids(leases().claim(anyKind("worker", 10)).leases());

    assertThat(firstTwo).containsExactly(first, second);
    assertThat(rest).containsExactly(third, fourth, fifth);
  }

  @Test
  @Covers("A5")
  void a_job_is_not_claimable_before_its_time_and_is_after_it() {
    enqueue(NewJob.of("email", "x").withDelay(Duration.ofMinutes(10)));

    Claimed early = leases().claim(anyKind("worker", 1));
    tenant.advance(Duration.ofMinutes(10));
    Claimed due = leases().claim(anyKind("worker", 1));

    assertThat(early.leases()).isEmpty();
    assertThat(due.leases()).hasSize(1);
  }

  @Test
  void a_worker_gets_only_kinds_and_queues_it_serves() {
    enqueue(NewJob.of("email", 1));
    enqueue(NewJob.of("email", 2).withQueue("other"));
    UUID served = enqueue(NewJob.of("report", 3));

    List<Lease> leases = claimKinds("worker", 10, Set.of("report"));

    assertThat(ids(leases)).containsExactly(served);
  }

  @Test
  void a_pending_job_is_not_offered() {
    enqueue(NewJob.of("email", 1).asPending());

    assertThat(leases().claim(anyKind("worker", 1)).leases()).isEmpty();
  }

  @Test
  void a_required_host_is_waited_for() {
    UUID id = enqueue(NewJob.of("email", 1).withPlacement(Placement.requiring("gpu-1")));

    tenant.advance(Duration.ofHours(1));

    assertThat(claimFrom("host-b", Map.of())).isEmpty();
    assertThat(ids(claimFrom("gpu-1", Map.of()))).containsExactly(id);
  }

  @Test
  void labels_must_all_be_among_the_workers() {
    UUID id = enqueue(NewJob.of("email", 1).withLabels(Map.of("gpu", "yes", "zone", "eu")));

    assertThat(claimFrom("h", Map.of("gpu", "yes"))).isEmpty();
    assertThat(claimFrom("h", Map.of("gpu", "yes", "zone", "us"))).isEmpty();
    assertThat(ids(claimFrom("h", Map.of("gpu", "yes", "zone", "eu", "disk", "ssd"))))
        .containsExactly(id);
  }

  @Test
  void a_paused_queue_gives_nothing_until_it_goes_on() {
    enqueue(NewJob.of("email", 1));
    tenant.queues().put("default", QueueSettings.DEFAULTS.withPaused(true));

    List<Lease> whilePaused = claim("worker", 1);
    tenant.queues().put("default", QueueSettings.DEFAULTS);

    assertThat(whilePaused).isEmpty();
    assertThat(claim("worker", 1)).hasSize(1);
  }

  @Test
  void no_more_jobs_of_a_queue_run_at_once_than_its_limit_over_all_workers() throws Exception {
    tenant.queues().put("default", QueueSettings.DEFAULTS.withConcurrencyLimit(3));
    IntStream.range(0, 30).forEach(i -> enqueue(NewJob.of("email", i)));

    List<List<Lease>> claims = concurrently(4, number -> claim("worker-" + number, 10));

    assertThat(claims.stream().mapToInt(List::size).sum()).isEqualTo(3);
    Lease one = claims.stream().flatMap(List::stream).findFirst().orElseThrow();
    finish(one, Outcome.succeeded());
    assertThat(claim("worker-x", 10)).hasSize(1);
  }

  @Test
  void concurrent_claimers_share_the_jobs_and_nobody_gets_one_twice() throws Exception {
    IntStream.range(0, 200).forEach(i -> enqueue(NewJob.of("kind-" + i % 5, i)));

    List<List<Lease>> claims =
        concurrently(8, number -> leases().claim(anyKind("worker-" + number, 25)).leases());
    List<UUID> all = claims.stream().flatMap(List::stream).map(l -> l.key().jobId()).toList();

    assertThat(new HashSet<>(all)).hasSameSizeAs(all);
    // SKIP LOCKED may leave some for the next claim, never lose them.
    int rest = leases().claim(anyKind("worker-z", 200)).leases().size();
    assertThat(all.size() + rest).isEqualTo(200);
  }

  @Test
  void the_same_claim_id_gets_the_same_leases() {
    IntStream.range(0, 5).forEach(i -> enqueue(NewJob.of("email", i)));

    List<Lease> first = leases().claim(withId("claim-1", "worker", 3)).leases();
    List<Lease> again = leases().claim(withId("claim-1", "worker", 3)).leases();
    List<Lease> other = leases().claim(withId("claim-2", "worker", 3)).leases();

    assertThat(first).hasSize(3);
    assertThat(keys(again)).isEqualTo(keys(first));
    assertThat(other).hasSize(2);
  }

  @Test
  void leases_got_again_by_their_claim_id_are_as_good_as_new() {
    enqueue(NewJob.of("email", 1));
    Lease first = leases().claim(withId("claim-1", "worker", 1)).leases().getFirst();
    tenant.advance(first.length().minusSeconds(2));

    Lease again = leases().claim(withId("claim-1", "worker", 1)).leases().getFirst();

    assertThat(again.expiresAt())
        .isCloseTo(
            first.expiresAt().plus(first.length().minusSeconds(2)), within(1, ChronoUnit.SECONDS));
  }

  @Test
  void a_claim_id_that_brought_nothing_looks_again() {
    List<Lease> nothing = leases().claim(withId("claim-1", "worker", 3)).leases();
    enqueue(NewJob.of("email", 1));

    assertThat(nothing).isEmpty();
    assertThat(leases().claim(withId("claim-1", "worker", 3)).leases()).hasSize(1);
  }

  @Test
  void a_lease_is_as_long_as_the_worker_asks_or_the_job_or_its_queue_says() {
    tenant.queues().put("slow", QueueSettings.DEFAULTS.withDefaults(lease(Duration.ofSeconds(90))));
    enqueue(NewJob.of("email", 1).withQueue("slow"));
    enqueue(NewJob.of("email", 2).withQueue("slow").withPolicy(lease(Duration.ofSeconds(5))));
    enqueue(NewJob.of("email", 3).withQueue("slow"));
    ClaimRequest slow = anyKind("worker", 1).withQueues(Set.of("slow"));

    assertThat(leases().claim(slow).leases().getFirst().length()).hasSeconds(90);
    assertThat(leases().claim(slow).leases().getFirst().length()).hasSeconds(5);
    ClaimRequest asking =
        ClaimRequest.of("worker", Set.of("slow"), 1).withLeaseLength(Duration.ofSeconds(7));
    assertThat(leases().claim(asking).leases().getFirst().length()).hasSeconds(7);
  }
}
