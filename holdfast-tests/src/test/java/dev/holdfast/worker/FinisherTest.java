package dev.holdfast.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.job.Outcome;
import dev.holdfast.lease.Finish;
import dev.holdfast.lease.Lease;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Outcomes that cannot be written for now: the database is away, or a hook fails. */
class FinisherTest {

  private static final int KEPT = 2_000;

  private final FailingLeases leases = new FailingLeases();
  private final InFlight inFlight = new InFlight(KEPT + 1);
  private final Finisher finisher = new Finisher(leases, inFlight, WorkerListener.NONE);

  @Test
  void an_outcome_is_kept_until_the_database_takes_it() {
    Running running = leases.running(inFlight, System.nanoTime());
    leases.away = true;
    finisher.add(new Finish(running.lease(), Outcome.succeeded()));

    assertThatThrownBy(finisher::runOnce).hasMessageContaining("away");
    assertThat(inFlight.all()).isNotEmpty();
    leases.away = false;
    finisher.runOnce();

    assertThat(leases.finished).containsExactly(running.lease().key().jobId());
    assertThat(inFlight.all()).isEmpty();
  }

  @Test
  void an_outcome_is_handed_on_by_a_thread_that_is_interrupted_too() {
    Running running = leases.running(inFlight, System.nanoTime());

    Thread.currentThread().interrupt();
    finisher.add(new Finish(running.lease(), Outcome.succeeded()));
    boolean stillInterrupted = Thread.interrupted();
    finisher.runOnce();

    assertThat(stillInterrupted).isTrue();
    assertThat(leases.finished).containsExactly(running.lease().key().jobId());
  }

  @Test
  void what_could_not_be_written_is_tried_once_more_when_the_worker_ends() {
    leases.refusesForNow = true;
    Lease lease = end();
    finisher.runOnce();
    leases.refusesForNow = false;

    finisher.flush();

    assertThat(leases.finished).containsExactly(lease.key().jobId());
  }

  @Test
  void no_more_are_taken_than_can_be_kept_and_all_are_written_in_the_end() {
    leases.refusesForNow = true;
    for (int i = 0; i < KEPT; i++) {
      end();
    }
    while (leases.refused.size() < KEPT) {
      finisher.runOnce();
    }
    Lease last = end();

    Duration wait = finisher.runOnce();

    assertThat(leases.refused).hasSize(KEPT).doesNotContain(last.key().jobId());
    assertThat(wait).as("not at once: nothing can be done now").isPositive();
    leases.refusesForNow = false;
    finisher.flush();
    assertThat(leases.finished).hasSize(KEPT + 1).contains(last.key().jobId());
  }

  private Lease end() {
    Lease lease = FailingLeases.lease(FailingLeases.LEASE);
    finisher.add(new Finish(lease, Outcome.succeeded()));
    return lease;
  }
}
