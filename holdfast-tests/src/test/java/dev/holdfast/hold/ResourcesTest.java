package dev.holdfast.hold;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.hold.ResourceState.Holder;
import dev.holdfast.hold.ResourceState.Waiter;
import dev.holdfast.job.JobState;
import dev.holdfast.job.NewJob;
import dev.holdfast.lease.ClaimRequest;
import dev.holdfast.lease.Lease;
import dev.holdfast.queue.QueueSettings;
import dev.holdfast.testkit.Covers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ResourcesTest extends EngineRig {

  private static final NewJob DEPLOY = NewJob.of("deploy", 1);

  @Covers("A2")
  @Test
  void one_job_of_a_site_runs_at_a_time() {
    UUID first = enqueue(DEPLOY.withResources("site:1"));
    UUID second = enqueue(DEPLOY.withResources("site:1"));
    UUID other = enqueue(DEPLOY.withResources("site:2"));

    List<Lease> claimed = claim(10);

    assertThat(ids(claimed)).containsExactly(first, other);
    assertThat(tenant.job(second).state()).isEqualTo(JobState.QUEUED);
    assertThat(tenant.job(second).waitingOn()).contains("site:1");
    succeed(claimed.getFirst());
    assertThat(ids(claim(10))).containsExactly(second);
  }

  @Covers({"A2", "A3"})
  @Test
  void a_job_that_needs_a_site_and_a_node_gets_both_or_neither() {
    UUID holdsNode = enqueue(DEPLOY.withResources("node:7"));
    UUID both = enqueue(DEPLOY.withResources("site:1", "node:7"));
    UUID wantsSite = enqueue(DEPLOY.withResources("site:1"));

    List<Lease> claimed = claim(10);

    // The site is not kept for the job that cannot have its node.
    assertThat(ids(claimed)).containsExactly(holdsNode, wantsSite);
    assertThat(tenant.resources().get("site:1").holders())
        .extracting(Holder::jobId)
        .containsExactly(wantsSite);
    succeed(claimed.get(0));
    assertThat(next()).isEmpty();
    succeed(claimed.get(1));
    assertThat(next()).contains(both);
    assertThat(tenant.resources().get("site:1").holders())
        .extracting(Holder::jobId)
        .containsExactly(both);
    assertThat(tenant.resources().get("node:7").holders())
        .extracting(Holder::jobId)
        .containsExactly(both);
  }

  @Test
  void waiting_jobs_get_a_resource_by_priority_then_due_time_then_order_of_enqueue() {
    enqueue(DEPLOY.withResources("site:1"));
    Lease running = claim(1).getFirst();
    UUID late = enqueue(DEPLOY.withResources("site:1"));
    UUID later = enqueue(DEPLOY.withResources("site:1"));
    UUID urgent = enqueue(DEPLOY.withResources("site:1").withPriority(-1));
    claim(10);

    List<UUID> order = new ArrayList<>();
    while (order.size() < 3) {
      assertThat(tenant.resources().get("site:1").waiters())
          .extracting(Waiter::jobId)
          .hasSize(3 - order.size());
      succeed(running);
      running = claim(10).getFirst();
      order.add(running.key().jobId());
    }

    assertThat(order).containsExactly(urgent, late, later);
  }

  @Test
  void as_many_hold_a_resource_as_its_capacity_says() {
    tenant.resources().setCapacity("pool", 3, ADA);
    IntStream.range(0, 5).forEach(i -> enqueue(DEPLOY.withResources("pool")));

    List<Lease> claimed = claim(10);

    assertThat(claimed).hasSize(3);
    claimed.forEach(this::succeed);
    assertThat(claim(10)).hasSize(2);
  }

  @Test
  void more_capacity_lets_waiting_jobs_in_and_less_drains() {
    IntStream.range(0, 5).forEach(i -> enqueue(DEPLOY.withResources("pool")));
    List<Lease> running = new ArrayList<>(claim(10));
    assertThat(running).hasSize(1);

    tenant.resources().setCapacity("pool", 3, ADA);
    running.addAll(claim(10));
    assertThat(running).hasSize(3);
    tenant.resources().setCapacity("pool", 1, ADA);
    succeed(running.get(0));
    succeed(running.get(1));
    assertThat(claim(10)).isEmpty();
    succeed(running.get(2));

    assertThat(claim(10)).hasSize(1);
  }

  @Test
  void a_waiting_job_does_not_hide_those_behind_it_that_can_run() {
    enqueue(DEPLOY.withResources("site:1"));
    IntStream.range(0, 50).forEach(i -> enqueue(DEPLOY.withResources("site:1")));
    UUID free = enqueue(DEPLOY.withResources("site:2"));
    UUID plain = enqueue(DEPLOY);

    assertThat(ids(claim(10))).contains(free, plain).hasSize(3);
  }

  @Test
  void a_job_of_a_kind_that_nobody_serves_does_not_keep_a_free_resource() {
    enqueue(DEPLOY.withResources("site:1"));
    Lease running = claim(1).getFirst();
    enqueue(NewJob.of("unserved", 1).withResources("site:1"));
    UUID served = enqueue(DEPLOY.withResources("site:1"));
    assertThat(claim(10)).isEmpty();

    succeed(running);

    assertThat(ids(claimKind("deploy", 10))).containsExactly(served);
  }

  @Test
  void a_waiting_job_that_is_cancelled_lets_the_next_one_in() {
    enqueue(DEPLOY.withResources("site:1"));
    Lease running = claim(1).getFirst();
    UUID next = enqueue(DEPLOY.withResources("site:1"));
    UUID afterNext = enqueue(DEPLOY.withResources("site:1"));
    claim(10);
    succeed(running); // wakes next

    tenant.acts().cancel(next, ADA);

    assertThat(tenant.job(next).state()).isEqualTo(JobState.CANCELLED);
    assertThat(next()).contains(afterNext);
  }

  @Test
  void jobs_that_fit_together_run_together_past_those_that_do_not() {
    UUID s1n1 = enqueue(DEPLOY.withResources("site:1", "node:1"));
    UUID s1n2 = enqueue(DEPLOY.withResources("site:1", "node:2"));
    UUID s2n1 = enqueue(DEPLOY.withResources("site:2", "node:1"));
    UUID s2n2 = enqueue(DEPLOY.withResources("site:2", "node:2"));

    List<Lease> first = claim(10);
    assertThat(ids(first)).containsExactly(s1n1, s2n2);
    first.forEach(this::succeed);

    assertThat(ids(claim(10))).containsExactlyInAnyOrder(s1n2, s2n1);
  }

  @Test
  void a_job_that_was_passed_over_for_a_minute_gets_what_it_needs() {
    assertThat(turnsUntilBothAreGot(Duration.ofSeconds(10))).isLessThan(20);
  }

  @Test
  void so_does_one_that_was_overtaken_64_times_however_soon_that_was() {
    assertThat(turnsUntilBothAreGot(Duration.ZERO)).isBetween(64, 70);
  }

  // Without reservations this goes on for ever: whenever one is free, the other is not.
  private int turnsUntilBothAreGot(Duration apart) {
    enqueue(DEPLOY.withResources("a"));
    Lease a = claim(1).getFirst();
    enqueue(DEPLOY.withResources("b"));
    Lease b = claim(1).getFirst();
    UUID both = enqueue(NewJob.of("big", 1).withResources("a", "b"));
    claim(10);
    tenant.advance(apart.multipliedBy(2));
    leases().extend(List.of(a, b));

    for (int turn = 0; turn < 200; turn++) {
      enqueue(DEPLOY.withResources(turn % 2 == 0 ? "a" : "b"));
      succeed(turn % 2 == 0 ? a : b);
      tenant.advance(apart);
      List<Lease> claimed = claim(10);
      if (ids(claimed).contains(both)) {
        return turn;
      }
      if (!claimed.isEmpty() && turn % 2 == 0) {
        a = claimed.getFirst();
      } else if (!claimed.isEmpty()) {
        b = claimed.getFirst();
      }
    }
    throw new AssertionError("it never got both");
  }

  @Test
  void what_a_job_has_just_reserved_is_not_given_to_the_next_one_asked_about() {
    enqueue(DEPLOY.withResources("b", "c"));
    UUID takesC = enqueue(DEPLOY.withResources("a", "c"));
    UUID reserves = enqueue(NewJob.of("other", 1).withResources("b", "c"));
    UUID wantsB = enqueue(DEPLOY.withResources("b"));
    Lease first = claim(10).getFirst();
    tenant.advance(Duration.ofSeconds(61));
    succeed(first);

    List<Lease> second = claim(10);

    assertThat(ids(second)).containsExactly(takesC);
    succeed(second.getFirst());
    List<Lease> third = claim(10);
    assertThat(ids(third)).containsExactly(reserves);
    succeed(third.getFirst());
    assertThat(next()).contains(wantsB);
  }

  @Test
  void a_job_that_needs_resources_keeps_its_place_among_those_that_do_not() {
    UUID first = enqueue(DEPLOY.withResources("site:1"));
    IntStream.range(0, 20).forEach(i -> enqueue(DEPLOY));

    assertThat(next()).contains(first);
  }

  @Test
  void a_limited_queue_is_not_starved_by_a_backlog_elsewhere_nor_does_a_full_one_hide_it() {
    tenant.queues().put("limited", QueueSettings.DEFAULTS.withConcurrencyLimit(1));
    List<UUID> limited =
        IntStream.range(0, 20).mapToObj(i -> enqueue(DEPLOY.withQueue("limited"))).toList();
    List<UUID> others = IntStream.range(0, 5).mapToObj(i -> enqueue(DEPLOY)).toList();
    ClaimRequest request = ClaimRequest.of("worker", Set.of("default", "limited"), 3);

    assertThat(ids(leases().claim(request).leases()))
        .containsExactly(others.get(0), others.get(1), limited.get(0));
    assertThat(ids(leases().claim(request).leases())).hasSize(3).isSubsetOf(others);
  }

  @Test
  void more_than_sixteen_resources_are_refused_and_nothing_is_stored() {
    List<String> names = IntStream.range(0, 17).mapToObj(i -> "r" + i).toList();

    assertThatThrownBy(() -> enqueue(DEPLOY.withResources(names)))
        .isInstanceOf(HoldfastException.class)
        .hasMessageContaining("resources")
        .hasMessageContaining("at most 16");
    assertThat(tenant.query("SELECT 1 FROM {schema}.job")).isEmpty();
  }
}
