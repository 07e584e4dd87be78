package dev.holdfast.worker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.codec.JacksonCodec;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Kind;
import dev.holdfast.job.Outcome;
import dev.holdfast.lease.ClaimRequest;
import dev.holdfast.lease.Lease;
import dev.holdfast.lease.LeaseSource;
import dev.holdfast.testkit.TestTenant;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Attempts that were granted and could not begin. */
class NeverBegunTest {

  private static final Kind<Integer> COUNT = Kind.of("count", Integer.class);

  @RegisterExtension final TestTenant tenant = new TestTenant();

  private final AtomicInteger runs = new AtomicInteger();
  private final InFlight inFlight = new InFlight(1);

  @Test
  void an_attempt_whose_lease_is_over_before_it_could_start_does_not_start_and_does_not_count() {
    UUID id = tenant.jobs().enqueue(COUNT.job(1)).id();
    LeaseSource leases = tenant.leases();
    Lease lease = claim(leases);
    Finisher finisher = new Finisher(leases, inFlight, WorkerListener.NONE);
    Runner runner = new Runner(leases, counting(Thread.ofVirtual().factory()), inFlight, finisher);

    runner.runHere(lease, System.nanoTime() - lease.length().toNanos());
    Duration unused = finisher.runOnce();

    assertWentBack(id);
  }

  @Test
  void an_attempt_for_which_there_is_no_thread_goes_back_and_does_not_count() {
    UUID id = tenant.jobs().enqueue(COUNT.job(1)).id();
    LeaseSource leases = tenant.leases();
    Finisher finisher = new Finisher(leases, inFlight, WorkerListener.NONE);
    WorkerSetup setup =
        counting(work -> {
          throw new OutOfMemoryError("unable to create native thread");
        });

    new Runner(leases, setup, inFlight, finisher).start(claim(leases), System.nanoTime());
    Duration unused = finisher.runOnce();

    assertWentBack(id);
    assertThat(inFlight.freePermits()).isEqualTo(1);
  }

  private void assertWentBack(UUID id) {
    assertThat(runs).hasValue(0);
    assertThat(tenant.job(id).state()).isEqualTo(JobState.QUEUED);
    assertThat(tenant.job(id).attempt()).isZero();
    assertThat(inFlight.all()).isEmpty();
  }

  private static Lease claim(LeaseSource leases) {
    return leases.claim(ClaimRequest.of("worker", Set.of("default"), 1)).leases().getFirst();
  }

  private WorkerSetup counting(ThreadFactory threads) {
    JacksonCodec codec = new JacksonCodec();
    Handlers handlers =
        Handlers.none(codec)
            .with(
                COUNT,
                (n, job) -> {
                  runs.incrementAndGet();
                  return Outcome.succeeded();
                });
    return new WorkerSetup(handlers, List.of(), codec, WorkerListener.NONE, threads);
  }
}
