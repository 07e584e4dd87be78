package dev.holdfast.worker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.codec.JacksonCodec;
import dev.holdfast.job.Kind;
import dev.holdfast.job.Outcome;
import dev.holdfast.lease.Extension;
import dev.holdfast.lease.Lease;
import dev.holdfast.lease.LeaseSource;
import dev.holdfast.wake.Bell;
import dev.holdfast.worker.Running.Interruption;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/**
 * What a worker does when the database cannot be reached, told with leases that fail on purpose.
 */
class InterruptedWorkTest {

  private static final Duration LEASE = FailingLeases.LEASE;

  private final FailingLeases leases = new FailingLeases();
  private final InFlight inFlight = new InFlight(10);
  private final AtomicLong nanoTime = new AtomicLong(1_000_000);

  @Test
  void a_handler_is_stopped_before_a_lease_that_could_not_be_renewed_can_pass_on() {
    SelfFence selfFence = new SelfFence(inFlight, WorkerListener.NONE, nanoTime::get);
    Running running = running();
    running.handlerStarts(nanoTime.get());

    nanoTime.addAndGet(LEASE.multipliedBy(4).dividedBy(5).minusMillis(1).toNanos());
    selfFence.runOnce();
    Optional<Interruption> early = running.interruption();
    nanoTime.addAndGet(Duration.ofMillis(1).toNanos());
    selfFence.runOnce();

    assertThat(early).isEmpty();
    assertThat(running.interruption()).contains(Interruption.UNRENEWED);
    assertThat(Thread.interrupted()).isTrue();
  }

  @Test
  void the_lease_of_a_handler_that_goes_on_after_that_is_renewed_as_long_as_it_runs() {
    AtomicInteger told = new AtomicInteger();
    WorkerListener listener =
        new WorkerListener() {
          @Override
          public void leaseLost(Lease lease) {
            told.incrementAndGet();
          }
        };
    Heartbeater heartbeater = new Heartbeater(leases, Duration.ofSeconds(2), inFlight, listener);
    Running running = running();
    running.handlerStarts(nanoTime.get());
    nanoTime.addAndGet(LEASE.toNanos());
    new SelfFence(inFlight, listener, nanoTime::get).runOnce();

    heartbeater.runOnce();
    assertThat(leases.extended).isEqualTo(1);
    assertThat(running.isLost()).as("what it does is void").isTrue();
    running.handlerEnded();
    heartbeater.runOnce();
    assertThat(leases.extended).isEqualTo(1);
    running.handlerStarts(nanoTime.get());
    leases.answer = Extension.Status.LOST;
    heartbeater.runOnce();
    heartbeater.runOnce();

    assertThat(leases.extended).as("nothing is asked of a lease that is gone").isEqualTo(2);
    assertThat(told).hasValue(1);
    assertThat(Thread.interrupted()).isTrue();
  }

  @Test
  void a_confirmed_beat_puts_the_deadline_off_counted_from_before_it_was_sent() {
    SelfFence selfFence = new SelfFence(inFlight, WorkerListener.NONE, nanoTime::get);
    Running running = running();
    running.handlerStarts(nanoTime.get());
    nanoTime.addAndGet(LEASE.dividedBy(2).toNanos());
    long sentNanos = nanoTime.get();

    running.renewed(sentNanos);
    nanoTime.addAndGet(LEASE.dividedBy(2).toNanos());
    selfFence.runOnce();

    assertThat(running.interruption()).isEmpty();
    running.handlerEnded();
  }

  @Test
  void a_heartbeat_counts_from_before_it_was_sent_however_long_its_answer_takes() {
    Running running = running();
    running.handlerStarts(nanoTime.get());

    new Heartbeater(leases, Duration.ofSeconds(2), inFlight, WorkerListener.NONE).runOnce();

    long latest = leases.answeredNanos + LEASE.multipliedBy(4).dividedBy(5).toNanos();
    assertThat(running.isPastDeadline(latest)).isTrue();
    running.handlerEnded();
  }

  @Test
  void a_handler_whose_lease_is_lost_is_stopped_when_a_heartbeat_hears_of_it() {
    Running running = running();
    running.handlerStarts(nanoTime.get());
    leases.answer = Extension.Status.LOST;

    new Heartbeater(leases, Duration.ofSeconds(2), inFlight, WorkerListener.NONE).runOnce();

    assertThat(running.interruption()).contains(Interruption.LOST);
    assertThat(Thread.interrupted()).isTrue();
  }

  @Test
  void whoever_drains_by_hand_is_stopped_too_before_a_lease_that_could_not_be_renewed_passes_on() {
    FailingLeases heartbeat = new FailingLeases();
    heartbeat.away = true;
    AtomicInteger stopped = new AtomicInteger();
    Lease lease = FailingLeases.lease(Duration.ofSeconds(1));
    leases.toGrant.add(lease);

    int attempts =
        worker(
                heartbeat,
                () -> {
                  try {
                    boolean unused = new CountDownLatch(1).await(1, TimeUnit.MINUTES);
                  } catch (InterruptedException e) {
                    stopped.incrementAndGet();
                    throw e;
                  }
                })
            .runDue();

    assertThat(attempts).isEqualTo(1);
    assertThat(stopped).as("handlers stopped").hasValue(1);
    assertThat(leases.outcomes).singleElement().isInstanceOf(Outcome.LeaseExpired.class);
    assertThat(Thread.interrupted()).as("it was meant for the handler").isFalse();
  }

  @Test
  void a_short_lease_is_renewed_in_time_though_the_worker_had_nothing_to_renew_before() {
    leases.toGrant.add(FailingLeases.lease(Duration.ofSeconds(1)));

    int attempts =
        worker(
                leases,
                () -> {
                  boolean unused = leases.threeBeats.await(1, TimeUnit.MINUTES);
                })
            .runDue();

    assertThat(attempts).isEqualTo(1);
    assertThat(leases.outcomes).containsExactly(Outcome.succeeded());
  }

  /** What a handler does. */
  private interface Doing {
    void run() throws InterruptedException;
  }

  private Worker worker(LeaseSource heartbeat, Doing doing) {
    JacksonCodec codec = new JacksonCodec();
    Handlers handlers =
        Handlers.none(codec)
            .with(
                Kind.of("kind", Object.class),
                (nothing, job) -> {
                  doing.run();
                  return Outcome.succeeded();
                });
    return new Worker(
        WorkerConfig.defaults(),
        false,
        new WorkerDependencies(leases, heartbeat, new Bell(), List.of()),
        new WorkerSetup(
            handlers, List.of(), codec, WorkerListener.NONE, Thread.ofVirtual().factory()));
  }

  private Running running() {
    return leases.running(inFlight, nanoTime.get());
  }
}
