package dev.holdfast.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.codec.JacksonCodec;
import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Attempt;
import dev.holdfast.job.Item;
import dev.holdfast.job.Kind;
import dev.holdfast.job.Needs;
import dev.holdfast.job.Outcome;
import dev.holdfast.job.Payload;
import dev.holdfast.job.Policy;
import dev.holdfast.job.Progress;
import dev.holdfast.lease.Extension;
import dev.holdfast.lease.Finish;
import dev.holdfast.lease.Lease;
import dev.holdfast.lease.LeaseKey;
import dev.holdfast.lease.LeaseSource;
import dev.holdfast.lease.Report;
import dev.holdfast.loop.SpareThreads;
import dev.holdfast.wake.Bell;
import dev.holdfast.worker.Running.Interruption;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/**
 * What a worker does when the database cannot be reached, told with leases that fail on purpose.
 */
class InterruptedWorkTest {

  private static final Duration LEASE = Duration.ofSeconds(30);

  private final FailingLeases leases = new FailingLeases();
  private final InFlight inFlight = new InFlight(10);
  private final AtomicLong nanoTime = new AtomicLong(1_000_000);

  @Test
  void an_outcome_is_kept_until_the_database_takes_it() {
    Finisher finisher = new Finisher(leases, inFlight, WorkerListener.NONE);
    Running running = running();
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
    Finisher finisher = new Finisher(leases, inFlight, WorkerListener.NONE);
    Running running = running();

    Thread.currentThread().interrupt();
    finisher.add(new Finish(running.lease(), Outcome.succeeded()));
    boolean stillInterrupted = Thread.interrupted();
    finisher.runOnce();

    assertThat(stillInterrupted).isTrue();
    assertThat(leases.finished).containsExactly(running.lease().key().jobId());
  }

  @Test
  void what_a_handler_said_is_kept_until_the_database_takes_it() {
    Reporter reporter = new Reporter(inFlight);
    running().context().log("first");
    running().context().log("second");

    leases.away = true;
    reporter.runOnce();
    leases.away = false;
    reporter.runOnce();

    assertThat(leases.reports)
        .flatExtracting(Report::logLines)
        .containsExactlyInAnyOrder("first", "second");
  }

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
  void a_handler_that_waits_for_an_answer_hears_all_the_same_that_its_lease_may_be_lost()
      throws Exception {
    leases.silent = true;
    Running running = running();
    FutureTask<Boolean> handler = handlerThatReports(running);
    leases.reporting.await();

    running.interrupt(Interruption.UNRENEWED);

    assertThatThrownBy(handler::get)
        .cause()
        .isInstanceOfSatisfying(
            HoldfastException.class,
            refusal -> assertThat(refusal.code()).isEqualTo(ErrorCode.LEASE_LOST));
    leases.answering.countDown();
  }

  @Test
  void a_handler_that_is_told_to_stop_may_still_say_how_far_it_came() throws Exception {
    leases.silent = true;
    Running running = running();
    FutureTask<Boolean> handler = handlerThatReports(running);
    leases.reporting.await();

    running.interrupt(Interruption.STOP);
    leases.answering.countDown();

    assertThat(handler.get()).as("told, once it has reported").isTrue();
    assertThat(leases.reports).hasSize(1);
  }

  @Test
  void nothing_is_reported_any_more_once_the_lease_may_be_lost() {
    Running running = running();
    running.interrupt(Interruption.UNRENEWED);

    assertThatThrownBy(() -> running.context().items(List.of(new Item("key", Payload.NULL))))
        .isInstanceOfSatisfying(
            HoldfastException.class,
            refusal -> assertThat(refusal.code()).isEqualTo(ErrorCode.LEASE_LOST));

    assertThat(leases.reports).isEmpty();
  }

  @Test
  void whoever_records_the_end_does_not_wait_for_a_report_that_nobody_answers() throws Exception {
    leases.silent = true;
    Running running = running();
    FutureTask<Boolean> handler = handlerThatReports(running);
    leases.reporting.await();
    running.interrupt(Interruption.UNRENEWED);
    assertThatThrownBy(handler::get).isNotNull();

    boolean stored = running.context().store();

    assertThat(stored).isFalse();
    leases.answering.countDown();
  }

  /** Answers whether it was interrupted. */
  private FutureTask<Boolean> handlerThatReports(Running running) {
    FutureTask<Boolean> handler =
        new FutureTask<>(() -> {
          running.handlerStarts(nanoTime.get());
          running.context().checkpoint("half");
          return Thread.interrupted();
        });
    var unused = Thread.startVirtualThread(handler);
    return handler;
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
  void a_report_whose_fate_is_unknown_is_sent_again_word_for_word_before_anything_newer() {
    Running running = running();
    running.context().log("one");
    running.context().usage(1, 2);
    running.context().progress(Progress.NONE.withPercent(10));
    leases.away = true;
    assertThatThrownBy(() -> running.context().flush()).hasMessageContaining("away");
    leases.away = false;
    running.context().log("two");

    running.context().flush();

    assertThat(leases.reports).hasSize(2);
    assertThat(leases.reports.getFirst().logLines()).containsExactly("one");
    assertThat(leases.reports.getFirst().progress().percent()).hasValue(10);
    assertThat(leases.reports.getFirst().idempotencyKey()).as("tokens count once").isPresent();
    assertThat(leases.reports.getLast().logLines()).containsExactly("two");
  }

  @Test
  void whoever_drains_by_hand_is_stopped_too_before_a_lease_that_could_not_be_renewed_passes_on() {
    FailingLeases heartbeat = new FailingLeases();
    heartbeat.away = true;
    AtomicInteger stopped = new AtomicInteger();
    Lease lease = lease(Duration.ofSeconds(1));
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
    leases.toGrant.add(lease(Duration.ofSeconds(1)));

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
    Running running =
        new Running(
            lease(LEASE),
            nanoTime.get(),
            leases,
            new JacksonCodec(),
            SpareThreads.named("holdfast-report"));
    inFlight.add(running);
    return running;
  }

  static Lease lease(Duration length) {
    return new Lease(
        new LeaseKey("default", UUID.randomUUID(), 7),
        "worker",
        "kind",
        "default",
        Payload.NULL,
        new Attempt(1, 0, 0),
        Policy.DEFAULTS,
        Needs.NOTHING,
        Progress.NONE,
        Instant.EPOCH,
        length,
        Instant.EPOCH.plus(length),
        Optional.empty());
  }
}
