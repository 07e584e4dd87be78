package dev.holdfast.hold;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.job.JobState;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.lease.ClaimRequest;
import dev.holdfast.lease.Lease;
import dev.holdfast.queue.QueueSettings;
import dev.holdfast.rig.Waits;
import dev.holdfast.tenant.Db;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jdbi.v3.core.Handle;
import org.junit.jupiter.api.Test;

class PrunerTest extends EngineRig {

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
  void a_job_whose_resource_was_forgotten_keeps_its_place_before_later_ones() {
    var leases = leases();
    var request = ClaimRequest.of("w", Set.of("default"), 2);
    tenant.queues().put("default", new QueueSettings(false, Optional.of(1), PolicyOverrides.NONE));
    for (int i = 0; i < 2; i++) { // made by the first, remembered by the second
      enqueue(JOB.withResources("site:1"));
      succeed(leases.claim(request).leases().getFirst());
    }
    prune();
    UUID first = enqueue(JOB.withResources("site:1"));
    enqueue(NewJob.of("check", 1)); // of another lane, which is looked at beside the first

    assertThat(leases.claim(request).leases())
        .extracting(lease -> lease.key().jobId())
        .containsExactly(first);
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

  @Test
  void a_capacity_is_set_though_the_row_is_just_being_removed() throws Exception {
    makeRows("site:1");

    beside(() -> tenant.resources().setCapacity("site:1", 5, ADA));

    assertThat(tenant.resources().get("site:1").capacity()).isEqualTo(5);
  }

  @Test
  void an_act_has_the_locks_of_all_that_its_job_needs_though_they_are_just_being_removed()
      throws Exception {
    UUID id = enqueue(JOB.withTarget("crm").withResources("site:1"));
    makeRows("site:1", "target:crm");

    beside(() -> tenant.acts().cancel(id, ADA));

    assertThat(tenant.job(id).state()).isEqualTo(JobState.CANCELLED);
    assertThat(tenant.resources().names("", 10))
        .as("what it has locked")
        .containsExactly("site:1", "target:crm");
  }

  private void makeRows(String... names) {
    Holds holds = new Holds(tenant.tenant().db());
    tenant.tenant().db().jdbi().useHandle(handle -> holds.make(handle, List.of(names)));
  }

  /** Done while a pruner has removed all rows that it can, and not committed yet. */
  private void beside(Runnable work) throws Exception {
    Db db = tenant.tenant().db();
    try (ExecutorService thread = Executors.newSingleThreadExecutor();
        Handle pruning = db.jdbi().open()) {
      pruning.begin();
      assertThat(new ResourcePruner(db).prune(pruning)).isPositive();
      Future<?> done = thread.submit(work);
      Waits.untilSomebodyWaitsFor(pruning);
      pruning.commit();
      done.get(1, TimeUnit.MINUTES);
    }
  }

  private void prune() {
    tenant.tenant().db().jdbi().useTransaction(new ResourcePruner(tenant.tenant().db())::prune);
  }
}
