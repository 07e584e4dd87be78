package dev.holdfast.worker;

import dev.holdfast.lease.Lease;
import dev.holdfast.lease.LeaseKey;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/**
 * The attempts this worker is responsible for. An attempt takes a permit when it is claimed and
 * gives it back when its handler has ended; it stays listed, and its lease renewed, until its end
 * is recorded. An attempt that holds resources keeps its permit until then, too: a job claimed in
 * its place earlier would find them taken, and be parked for a moment. Thread-safe.
 */
final class InFlight {

  private final Map<LeaseKey, AttemptReports> attempts = new ConcurrentHashMap<>();
  private final AtomicInteger freePermits;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition emptied = lock.newCondition();
  private volatile Runnable whenPermitFreed = () -> {};
  private volatile Consumer<Lease> whenAdded = lease -> {};

  InFlight(int permits) {
    this.freePermits = new AtomicInteger(permits);
  }

  void onPermitFreed(Runnable listener) {
    whenPermitFreed = listener;
  }

  void onAdded(Consumer<Lease> listener) {
    whenAdded = listener;
  }

  int freePermits() {
    return freePermits.get();
  }

  void add(AttemptReports attempt) {
    Lease lease = attempt.running().lease();
    freePermits.decrementAndGet();
    attempts.put(lease.key(), attempt);
    whenAdded.accept(lease);
  }

  void handlerEnded(Running attempt) {
    if (!holdsResources(attempt)) {
      freePermit();
    }
  }

  private static boolean holdsResources(Running attempt) {
    return !attempt.lease().needs().resources().isEmpty();
  }

  private void freePermit() {
    freePermits.incrementAndGet();
    whenPermitFreed.run();
  }

  /** Removes an attempt whose end is recorded or no longer matters. */
  void remove(LeaseKey key) {
    AttemptReports attempt = attempts.remove(key);
    if (attempt != null && holdsResources(attempt.running())) {
      freePermit();
    }
    if (attempts.isEmpty()) {
      lock.lock();
      try {
        emptied.signalAll();
      } finally {
        lock.unlock();
      }
    }
  }

  List<Running> all() {
    return attempts.values().stream().map(AttemptReports::running).toList();
  }

  List<AttemptReports> reports() {
    return List.copyOf(attempts.values());
  }

  Optional<Running> find(LeaseKey key) {
    return Optional.ofNullable(attempts.get(key)).map(AttemptReports::running);
  }

  /** Waits until everything has ended and is recorded; false when the time is over before. */
  boolean awaitEmpty(Duration timeout) throws InterruptedException {
    lock.lock();
    try {
      long nanos = timeout.toNanos();
      while (!attempts.isEmpty() && nanos > 0) {
        nanos = emptied.awaitNanos(nanos);
      }
      return attempts.isEmpty();
    } finally {
      lock.unlock();
    }
  }
}
