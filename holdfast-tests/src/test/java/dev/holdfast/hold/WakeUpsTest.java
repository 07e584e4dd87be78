package dev.holdfast.hold;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Holdfast;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Payload;
import dev.holdfast.lease.ClaimRequest;
import dev.holdfast.lease.Lease;
import dev.holdfast.queue.QueueSettings;
import dev.holdfast.testkit.TestDatabase;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Jobs that are parked while somebody else is just making room for them. */
class WakeUpsTest extends EngineRig {

  @Test
  void a_job_that_came_after_a_handlers_long_transaction_began_is_woken_by_its_end()
      throws Exception {
    enqueue(NewJob.of("call", 1).withTarget("crm"));
    Lease first = claim(1).getFirst();
    AtomicReference<UUID> second = new AtomicReference<>();

    leases()
        .finishInTransaction(
            first,
            connection -> {
              connection.createStatement().execute("SELECT 1"); // now the transaction has begun
              CompletableFuture.runAsync(
                      () -> {
                        second.set(enqueue(NewJob.of("call", 2).withTarget("crm")));
                        assertThat(claim(1)).isEmpty(); // parked
                      })
                  .join();
              return Payload.NULL;
            });

    assertThat(tenant.job(second.get()).waitingOn()).isEmpty();
    assertThat(next()).contains(second.get());
  }

  @Test
  void a_job_parked_while_the_one_before_it_is_being_cancelled_is_woken_by_that() throws Exception {
    UUID first = enqueue(NewJob.of("call", 1).withTarget("crm"));
    UUID second = enqueue(NewJob.of("other", 2).withTarget("crm"));
    CountDownLatch cancelling = new CountDownLatch(1);
    CountDownLatch parked = new CountDownLatch(1);
    Holdfast hooked =
        Holdfast.builder(TestDatabase.shared().dataSource())
            .onTransition((connection, moved) -> {
              cancelling.countDown();
              await(parked);
            })
            .build();

    try (ExecutorService threads = Executors.newCachedThreadPool()) {
      Future<?> cancel = threads.submit(() -> hooked.acts(tenant.name()).cancel(first, ADA));
      cancelling.await();
      Future<?> claim = threads.submit(() -> claimKind("other", 1));
      parked.countDown();
      cancel.get();
      claim.get();
    }

    assertThat(tenant.job(second).waitingOn()).isEmpty();
  }

  @Test
  void a_claim_also_grants_what_it_woke_itself() {
    tenant.queues().put("narrow", QueueSettings.DEFAULTS.withConcurrencyLimit(1));
    tenant.resources().setCapacity("target:crm", 2, ADA);
    UUID holder = enqueue(NewJob.of("call", 1).withResources("a"));
    UUID behind = enqueue(NewJob.of("call", 2).withQueue("narrow").withResources("a"));
    UUID first = enqueue(NewJob.of("call", 3).withQueue("narrow").withTarget("crm"));
    UUID second = enqueue(NewJob.of("call", 4).withPriority(1).withTarget("crm"));

    List<Lease> claimed =
        leases().claim(ClaimRequest.of("worker", Set.of("default", "narrow"), 4)).leases();

    // The first on the target is looked at only once the job ahead of it in its queue is parked.
    assertThat(ids(claimed)).containsExactly(holder, first, second);
    assertThat(tenant.job(behind).waitingOn()).contains("a");
  }

  private static void await(CountDownLatch parked) {
    try {
      parked.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
