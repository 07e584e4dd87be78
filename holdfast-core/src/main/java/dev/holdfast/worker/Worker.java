package dev.holdfast.worker;

import dev.holdfast.lease.Lease;
import dev.holdfast.lease.LeaseSource;
import dev.holdfast.loop.AtExit;
import dev.holdfast.loop.Loop;
import dev.holdfast.loop.SafeLog;
import dev.holdfast.worker.Running.Interruption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Claims jobs and runs their handlers until closed. Thread-safe; starting or closing twice is fine.
 *
 * <p>A job passes through {@link Claimer}, {@link Runner} and {@link Finisher}, in this order;
 * {@link Heartbeater} and {@link SelfFence} watch over it meanwhile.
 */
public final class Worker implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(Worker.class);

  // How long before the drain timeout a handler that checks shouldStop is told, to end by itself: a
  // fifth of the timeout, like the margin of a lease, but no job is to lose much of the time that
  // it was given.
  private static final int WARNING_PART = 5;
  private static final Duration LONGEST_WARNING = Duration.ofMinutes(1);

  // How long interrupted handlers get to end before their jobs are left to the reaper.
  private static final Duration UNWIND = Duration.ofSeconds(5);

  private enum Phase {
    NEW,
    STARTED,
    CLOSED
  }

  private final WorkerConfig config;
  private final boolean drainAtExit;
  private final WorkerDependencies dependencies;
  private final InFlight inFlight;
  private final Finisher finisher;
  private final Runner runner;
  private final Claimer claimer;
  private final Heartbeater heartbeater;
  private final SelfFence selfFence;
  private final Timeouts timeouts;
  private final Reporter reporter;
  private final ReentrantLock lock = new ReentrantLock(); // guards phase and what start() makes
  private Phase phase = Phase.NEW;
  private AutoCloseable atExit = () -> {};
  private List<AutoCloseable> stopFirst = List.of();
  private List<AutoCloseable> stopLast = List.of();

  Worker(
      WorkerConfig config,
      boolean drainAtExit,
      WorkerDependencies dependencies,
      WorkerSetup setup) {
    LeaseSource leases = dependencies.leases();
    this.config = config;
    this.drainAtExit = drainAtExit;
    this.dependencies = dependencies;
    this.inFlight = new InFlight(config.concurrency());
    this.finisher = new Finisher(leases, inFlight, setup.listener());
    this.runner = new Runner(leases, setup, inFlight, finisher);
    this.claimer = new Claimer(dependencies, config, setup, inFlight, runner);
    this.heartbeater =
        new Heartbeater(
            dependencies.heartbeat(), config.heartbeatInterval(), inFlight, setup.listener());
    this.selfFence = new SelfFence(inFlight, setup.listener(), System::nanoTime);
    this.timeouts = new Timeouts(inFlight, setup.listener(), System::nanoTime);
    this.reporter = new Reporter(inFlight);
  }

  public String name() {
    return config.name();
  }

  public Worker start() {
    lock.lock();
    try {
      if (phase == Phase.NEW) {
        if (drainAtExit) { // first: it is refused when the JVM is ending already
          atExit = AtExit.run("holdfast-drain", this::close);
        }
        startLoops();
        phase = Phase.STARTED;
        log.info(
            "Worker {} started: queues {}, {} at once",
            name(),
            config.queues(),
            config.concurrency());
      }
      return this;
    } finally {
      lock.unlock();
    }
  }

  private void startLoops() {
    List<AutoCloseable> background = new ArrayList<>();
    try {
      dependencies.background().forEach(step -> background.add(step.start()));
    } catch (RuntimeException e) { // say, the database is away: stop what was started
      background.forEach(Worker::stop);
      stop(atExit);
      throw e;
    }
    Loop fence = Loop.start("holdfast-self-fence", selfFence);
    Loop timeout = Loop.start("holdfast-timeouts", timeouts);
    Loop heartbeat = startHeartbeat();
    Loop reports = Loop.start("holdfast-reports", reporter);
    Loop finish = Loop.start("holdfast-finish", finisher);
    finisher.onAdded(finish::wake);
    Loop claim = Loop.start("holdfast-claim", claimer);
    inFlight.onPermitFreed(() -> {
      if (claimer.isHungry()) {
        claim.wake();
      }
    });
    AutoCloseable bell =
        dependencies
            .bell()
            .onRing(tenant -> {
              dependencies.leases().announced(tenant);
              claim.wake();
            });
    stopFirst = List.of(bell, claim);
    // Heartbeats stop last: until everything is written back, the reaper must not take it.
    stopLast =
        new ArrayList<>(
            List.<AutoCloseable>of(finish, finisher::flush, reports, timeout, fence, heartbeat));
    stopLast.addAll(background);
  }

  // A worker with no short leases so far would beat too late for a short one that comes now.
  private Loop startHeartbeat() {
    Loop heartbeat = Loop.start("holdfast-heartbeat", heartbeater);
    inFlight.onAdded(lease -> {
      if (heartbeater.isTooLateFor(lease)) {
        heartbeat.wake();
      }
    });
    return heartbeat;
  }

  /**
   * Runs everything that is due in the calling thread and records it; for tests and one-off drains.
   * Jobs that become due while it runs are run too.
   *
   * @return how many attempts were run
   */
  public int runDue() {
    // Handlers that are run here may take longer than a lease, too.
    try (Loop heartbeat = startHeartbeat();
        Loop fence = Loop.start("holdfast-self-fence", selfFence);
        Loop timeout = Loop.start("holdfast-timeouts", timeouts)) {
      finisher.flush(); // what an earlier call could not record
      int attempts = 0;
      while (runOneDue()) {
        attempts++;
      }
      return attempts;
    }
  }

  private boolean runOneDue() {
    long sentNanos = System.nanoTime();
    List<Lease> leases = dependencies.leases().claim(claimer.request(1).thoroughly()).leases();
    for (Lease lease : leases) {
      runner.runHere(lease, sentNanos);
      Duration unused = finisher.runOnce();
    }
    return !leases.isEmpty();
  }

  /**
   * Claims nothing more, waits for running jobs as long as the drain timeout says, tells handlers
   * that check {@link JobContext#shouldStop} shortly before it is over, interrupts and hands back
   * the rest, and stops.
   */
  @Override
  public void close() {
    lock.lock();
    try {
      Phase before = phase;
      phase = Phase.CLOSED;
      if (before == Phase.STARTED) {
        stopFirst.forEach(Worker::stop);
        log.info("Worker {} is draining", name());
        boolean hurried = drain();
        for (AutoCloseable each : stopLast) {
          hurried |= Thread.interrupted(); // or the last outcomes get no connection
          stop(each);
        }
        stop(atExit);
        log.info("Worker {} stopped", name());
        if (hurried) {
          Thread.currentThread().interrupt();
        }
      }
    } finally {
      lock.unlock();
    }
  }

  /** Returns whether the closing thread was interrupted, and so is in a hurry. */
  private boolean drain() {
    boolean hurried = false;
    try {
      if (isDrainedPatiently()) {
        return false;
      }
    } catch (InterruptedException e) {
      log.warn("Interrupted while draining; handlers are told to stop at once");
      hurried = true;
    }
    // Nothing renews the leases of these handlers after this, so they must not go on.
    inFlight.all().forEach(running -> running.interrupt(Interruption.DRAIN));
    try {
      if (!inFlight.awaitEmpty(UNWIND)) {
        log.warn(
            "{} handlers ignore interruption; their leases are left to expire",
            inFlight.all().size());
      }
    } catch (InterruptedException e) {
      log.warn("Interrupted again; {} jobs are left to their leases", inFlight.all().size());
      hurried = true;
    }
    return hurried;
  }

  private boolean isDrainedPatiently() throws InterruptedException {
    Duration part = config.drainTimeout().dividedBy(WARNING_PART);
    Duration warning = part.compareTo(LONGEST_WARNING) < 0 ? part : LONGEST_WARNING;
    if (!inFlight.awaitEmpty(config.drainTimeout().minus(warning))) {
      inFlight.all().forEach(Running::tellOfDrain);
    }
    return inFlight.awaitEmpty(warning);
  }

  private static void stop(AutoCloseable closeable) {
    try {
      closeable.close();
    } catch (Throwable thrown) { // after an Error, too: the other loops would never end
      SafeLog.warn(log, "Stopping " + closeable + " failed", thrown);
    }
  }
}
