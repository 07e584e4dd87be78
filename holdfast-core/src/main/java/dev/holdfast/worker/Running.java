package dev.holdfast.worker;

import dev.holdfast.job.Failure;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Outcome;
import dev.holdfast.lease.Lease;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One attempt in this JVM, from claim to recorded end.
 *
 * <p>While its handler runs it can be interrupted, once or more, with a reason; the first reason
 * decides what the end means, unless the lease is lost. After the handler has returned,
 * interruptions no longer reach the thread, which then hands the outcome on. Thread-safe: {@code
 * lock} guards thread and reason.
 */
final class Running {

  /** Why a handler was interrupted. */
  enum Interruption {
    /** The job was asked to stop. */
    STOP,
    /** It ran longer than its policy allows. */
    TIMEOUT,
    /** This worker is closing and does not wait any longer. */
    DRAIN,
    /** A report brought the last of the results that the job is for: the job has succeeded. */
    ENOUGH,
    /**
     * The lease could not be renewed in time and may be gone: whatever the handler does is void.
     */
    UNRENEWED,
    /** The lease is gone. */
    LOST
  }

  private final Lease lease;
  private final Executor reports;
  private final ReentrantLock lock = new ReentrantLock();
  private @Nullable Thread handlerThread;
  private @Nullable Interruption interruption;
  private long startedNanos;
  private long interruptedNanos;
  private boolean reportedStubborn;
  private volatile long deadlineNanos;
  private volatile boolean drainNears;
  private volatile boolean toldToStop;
  private volatile @Nullable JobState recorded;

  /**
   * An attempt about to start.
   *
   * @param sentNanos {@link System#nanoTime} before the claim was sent, when the lease may have
   *     begun
   * @param reports runs the reports that a handler waits for, see {@link
   *     dev.holdfast.loop.SpareThreads}
   */
  Running(Lease lease, long sentNanos, Executor reports) {
    this.lease = lease;
    this.reports = reports;
    renewed(sentNanos);
  }

  Lease lease() {
    return lease;
  }

  /** A renewal was confirmed; the new lease began no earlier than its request was sent. */
  void renewed(long sentNanos) {
    deadlineNanos = sentNanos + lease.length().minus(margin()).toNanos();
  }

  /** Whether its handler has run longer than the policy allows. */
  boolean isTimedOut(long nowNanos) {
    lock.lock();
    try {
      long ranNanos = nowNanos - startedNanos;
      return handlerThread != null
          && lease
              .policy()
              .timeout()
              .length()
              .filter(limit -> ranNanos > limit.toNanos())
              .isPresent();
    } finally {
      lock.unlock();
    }
  }

  /** Whether the handler still runs so long after it was interrupted: true once. */
  boolean turnsOutStubborn(long nowNanos, Duration patience) {
    lock.lock();
    try {
      boolean stubborn =
          handlerThread != null
              && interruption != null
              && nowNanos - interruptedNanos > patience.toNanos();
      boolean turnsOut = stubborn && !reportedStubborn;
      reportedStubborn |= stubborn;
      return turnsOut;
    } finally {
      lock.unlock();
    }
  }

  /** Whether the lease may soon pass to another worker, by this process's own clock. */
  boolean isPastDeadline(long nowNanos) {
    return nowNanos - deadlineNanos >= 0;
  }

  /** How long the lease certainly lasts, by this process's own clock, if nothing renews it. */
  Duration leaseLeft(long nowNanos) {
    return Duration.ofNanos(deadlineNanos - nowNanos).plus(margin());
  }

  // A fifth of the lease is left for the handler to notice the interruption.
  Duration margin() {
    return Duration.ofNanos(lease.length().toNanos() / 5);
  }

  void handlerStarts(long nowNanos) {
    lock.lock();
    try {
      startedNanos = nowNanos;
      handlerThread = Thread.currentThread();
      if (interruption != null) {
        handlerThread.interrupt();
      }
    } finally {
      lock.unlock();
    }
  }

  void handlerEnded() {
    lock.lock();
    try {
      handlerThread = null;
      boolean unused = Thread.interrupted(); // it was meant for the handler
    } finally {
      lock.unlock();
    }
  }

  /**
   * Interrupts the handler. The first reason stands, except that a lease that is lost, or may be,
   * overrules everything.
   *
   * @return whether there was a handler to interrupt
   */
  boolean interrupt(Interruption reason) {
    lock.lock();
    try {
      if (interruption == null) {
        interruptedNanos = System.nanoTime();
      }
      if (interruption == null || (reason.compareTo(interruption) > 0 && isLoss(reason))) {
        interruption = reason;
      }
      if (handlerThread == null) {
        return false;
      }
      handlerThread.interrupt();
      return true;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Runs work that cannot be interrupted, such as waiting for an answer over a network, on another
   * thread. The handler waits for its end unless the lease is lost, or may be: the handler must not
   * learn of that only when a server answers that may be gone. A handler that is told to stop for
   * another reason may still report how far it came.
   *
   * @return empty when the lease is lost, or may be; the work then goes on without the handler
   */
  <T> Optional<T> unlessLost(Supplier<T> work) {
    if (isLost()) {
      return Optional.empty();
    }
    FutureTask<T> done = new FutureTask<>(work::get);
    try {
      reports.execute(done);
    } catch (OutOfMemoryError noThread) {
      done.run(); // here, although the handler cannot hear of a lost lease meanwhile
    }
    boolean interrupted = false;
    try {
      while (true) {
        try {
          return Optional.of(done.get());
        } catch (InterruptedException e) {
          interrupted = true;
          if (isLost()) {
            return Optional.empty();
          }
        } catch (ExecutionException e) {
          throw unchecked(e.getCause());
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt(); // it was meant for the handler
      }
    }
  }

  private static RuntimeException unchecked(@Nullable Throwable thrown) {
    if (thrown instanceof Error error) {
      throw error;
    }
    return thrown instanceof RuntimeException failure ? failure : new IllegalStateException(thrown);
  }

  /**
   * The worker will interrupt the handler before long; until then only a handler that checks {@link
   * #shouldStop} hears of it.
   */
  void tellOfDrain() {
    drainNears = true;
  }

  /** Whether the handler, which asks, is to stop; what its end means depends on the answer. */
  boolean shouldStop() {
    boolean stop = drainNears || interruption().isPresent();
    if (stop) {
      toldToStop = true; // never back to false, whichever thread of the handler looks
    }
    return stop;
  }

  /** The outcome of a handler that returned without one: cut short, if it was told to stop. */
  Outcome returned() {
    return toldToStop ? interruptedOutcome().orElseGet(Outcome::succeeded) : Outcome.succeeded();
  }

  Optional<Interruption> interruption() {
    lock.lock();
    try {
      return Optional.ofNullable(interruption);
    } finally {
      lock.unlock();
    }
  }

  /**
   * The outcome of a handler that ended because it was interrupted, or checked and was told to
   * stop.
   */
  Optional<Outcome> interruptedOutcome() {
    return interruption()
        .or(() -> toldToStop ? Optional.of(Interruption.DRAIN) : Optional.empty())
        .map(reason ->
            switch (reason) {
              case STOP -> new Outcome.Stopped();
              case TIMEOUT -> Outcome.failed(Failure.timeout(lease.policy().timeout()));
              case DRAIN -> new Outcome.Released("worker is closing");
              case ENOUGH -> Outcome.succeeded();
              // Most likely refused, but it reports that the work is over, so that what it held can
              // pass on.
              case UNRENEWED, LOST -> new Outcome.LeaseExpired(lease.worker());
            });
  }

  /** The handler's transaction, or a report, has ended the job. */
  void recorded(JobState state) {
    recorded = state;
  }

  /** The state that the handler's transaction or the last report recorded the job in, if any. */
  Optional<JobState> recorded() {
    return Optional.ofNullable(recorded);
  }

  /** Whether nothing more is to be reported. */
  boolean isOver() {
    return isLost() || recorded().isPresent();
  }

  /** Whether the lease is lost, or may be. */
  boolean isLost() {
    return interruption().filter(Running::isLoss).isPresent();
  }

  private static boolean isLoss(Interruption reason) {
    return reason == Interruption.UNRENEWED || reason == Interruption.LOST;
  }

  /**
   * Whether the lease is to be renewed: until the end is recorded. That includes the lease of a
   * handler that goes on after its renewal was late, so that no other worker runs the job beside
   * it, if none does already.
   */
  boolean wantsRenewal() {
    lock.lock();
    try {
      return recorded().isEmpty()
          && interruption != Interruption.LOST
          && (interruption != Interruption.UNRENEWED || handlerThread != null);
    } finally {
      lock.unlock();
    }
  }
}
