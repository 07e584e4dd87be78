package dev.holdfast.worker;

import dev.holdfast.job.Failure;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Outcome;
import dev.holdfast.lease.Finish;
import dev.holdfast.lease.FinishReply;
import dev.holdfast.lease.Lease;
import dev.holdfast.lease.LeaseSource;
import dev.holdfast.loop.SafeLog;
import dev.holdfast.loop.SpareThreads;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Executor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

/**
 * Runs attempts, each on a thread of its own, and hands their outcomes to the finisher.
 * Thread-safe: the claim loop's thread starts attempts, and all the rest of an attempt happens on
 * its own thread.
 */
final class Runner {

  private static final Logger log = LoggerFactory.getLogger(Runner.class);

  private static final Failure SAID_NOTHING =
      Failure.permanent(Failure.HANDLER_FAILED, "The handler answered null instead of an outcome");

  // Made ahead: it stands where memory or stack do not suffice to say what went wrong, or where a
  // logger throws before the handler began.
  private static final Outcome UNSAID =
      Outcome.failed(
          Failure.retryable(
              Failure.HANDLER_FAILED, "The attempt ended by an error that could not be told"));

  // The claim's answer took so long that another worker may soon have the job, or has it already.
  // If none has, the job goes back to its place, and the attempt that never began does not count.
  private static final Outcome TOO_LATE = Outcome.snoozed(Duration.ZERO);

  // No thread could be started. The attempt never began; a little later there may be a thread.
  private static final Outcome NO_THREAD = Outcome.snoozed(Duration.ofSeconds(1));

  private final LeaseSource leases;
  private final WorkerSetup setup;
  private final InFlight inFlight;
  private final Finisher finisher;
  private final Executor reporting = SpareThreads.named("holdfast-report");

  Runner(LeaseSource leases, WorkerSetup setup, InFlight inFlight, Finisher finisher) {
    this.leases = leases;
    this.setup = setup;
    this.inFlight = inFlight;
    this.finisher = finisher;
  }

  /** Starts the attempt and returns at once. */
  void start(Lease lease, long sentNanos) {
    AttemptReports reports = register(lease, sentNanos);
    try {
      setup.threads().newThread(() -> run(reports)).start();
    } catch (Throwable thrown) { // also an Error: else it would keep its lease and never run
      SafeLog.warn(log, "There is no thread for a job; it goes back: " + lease.key(), thrown);
      finisher.add(new Finish(lease, NO_THREAD, Optional.empty()));
      inFlight.handlerEnded(reports.running());
    }
  }

  /** Runs the attempt in the calling thread. */
  void runHere(Lease lease, long sentNanos) {
    run(register(lease, sentNanos));
  }

  private AttemptReports register(Lease lease, long sentNanos) {
    AttemptReports reports = new AttemptReports(new Running(lease, sentNanos, reporting), leases);
    inFlight.add(reports);
    return reports;
  }

  private void run(AttemptReports reports) {
    Lease lease = reports.running().lease();
    Outcome outcome = UNSAID;
    try (MDC.MDCCloseable job = MDC.putCloseable("job", lease.key().jobId().toString());
        MDC.MDCCloseable tenant = MDC.putCloseable("tenant", lease.key().tenant());
        MDC.MDCCloseable attempt =
            MDC.putCloseable("attempt", String.valueOf(lease.attempt().number()))) {
      lease.policy().trace().ifPresent(trace -> MDC.put("trace", trace.traceId()));
      lease.slot().ifPresent(slot -> SafeLog.ifPossible(() -> RunLog.started(lease, slot)));
      long startedNanos = System.nanoTime();
      outcome = execute(reports);
      ended(reports, outcome, Duration.ofNanos(System.nanoTime() - startedNanos));
    } finally {
      MDC.remove("trace");
      try {
        handOver(reports, outcome); // even if logging throws: else its lease would never end
      } finally {
        inFlight.handlerEnded(reports.running());
      }
    }
  }

  private void ended(AttemptReports reports, Outcome outcome, Duration ran) {
    Lease lease = reports.running().lease();
    setup.listener().ended(lease, outcome, ran);
    if (lease.slot().isPresent()) {
      long rows = reports.rows();
      RunLog.ended(lease, lease.slot().get(), outcome, ran, rows);
      setup.listener().scheduledRunEnded(lease.slot().get(), outcome, ran, rows);
    }
  }

  private Outcome execute(AttemptReports reports) {
    Running running = reports.running();
    if (running.isPastDeadline(System.nanoTime())) {
      return TOO_LATE;
    }
    running.handlerStarts(System.nanoTime());
    try {
      JobContext context = new JobContext(reports, setup.codec());
      Interceptor.Next next = () -> setup.handlers().run(running.lease(), context);
      for (Interceptor interceptor : setup.interceptors().reversed()) {
        Interceptor.Next inner = next;
        next = () -> interceptor.around(context, inner);
      }
      Outcome outcome = next.proceed();
      return outcome == null ? Outcome.failed(SAID_NOTHING) : outcome;
    } catch (Throwable thrown) { // a handler's Error must not take the lease with it
      return running.interruptedOutcome().orElseGet(() -> thrownBy(running.lease(), thrown));
    } finally {
      running.handlerEnded();
    }
  }

  private Outcome thrownBy(Lease lease, Throwable thrown) {
    Outcome outcome =
        OutcomeException.saidBy(thrown).orElseGet(() -> Outcome.failed(Failure.of(thrown)));
    if (outcome instanceof Outcome.Failed) {
      try {
        tell(lease, thrown);
      } catch (Throwable untold) { // a logger calls the exception's methods, which may throw
        log.warn("Job {} threw {}", lease.key().jobId(), thrown.getClass().getName());
      }
      setup.listener().failed(lease, thrown);
    }
    return outcome;
  }

  // As a warning only when it will not be retried: a flood of failures must not drown the log.
  private static void tell(Lease lease, Throwable thrown) {
    if (lease.attempt().isLastOf(lease.policy())) {
      log.warn("Job {} ({}) fails at its last attempt", lease.key().jobId(), lease.kind(), thrown);
    } else {
      log.debug("Job {} ({}) fails", lease.key().jobId(), lease.kind(), thrown);
    }
  }

  private void handOver(AttemptReports reports, Outcome outcome) {
    Lease lease = reports.running().lease();
    Optional<JobState> recorded = reports.running().recorded();
    if (recorded.isPresent()) {
      inFlight.remove(lease.key());
      setup.listener().finished(lease, new FinishReply.Recorded(recorded.get()));
    } else {
      store(reports);
      finisher.add(new Finish(lease, outcome, reports.logExcerpt()));
    }
  }

  private static void store(AttemptReports reports) {
    try {
      boolean unused = reports.store(); // false if the lease is lost; the end says so
    } catch (Throwable thrown) {
      // The outcome matters more than the last lines: the finisher keeps trying to record it.
      SafeLog.warn(
          log,
          "The last progress and log lines of an attempt are lost: "
              + reports.running().lease().key(),
          thrown);
    }
  }
}
