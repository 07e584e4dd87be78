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

  private final Map<LeaseKey, Running> running = new ConcurrentHashMap<>();
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

  void add(Running attempt) {
    freePermits.decrementAndGet();
    running.put(attempt.lease().key(), attempt);
    whenAdded.accept(attempt.lease());
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
    Running attempt = running.remove(key);
    if (attempt != null && holdsResources(attempt)) {
      freePermit();
    }
    if (running.isEmpty()) {
      lock.lock();
      try {
        emptied.signalAll();
      } finally {
        lock.unlock();
      }
    }
  }

  List<Running> all() {
    return List.copyOf(running.values());
  }

  Optional<Running> find(LeaseKey key) {
    return Optional.ofNullable(running.get(key));
  }

  /** Waits until everything has ended and is recorded; false when the time is over before. */
  boolean awaitEmpty(Duration timeout) throws InterruptedException {
    lock.lock();
    try {
      long nanos = timeout.toNanos();
      while (!running.isEmpty() && nanos > 0) {
        nanos = emptied.awaitNanos(nanos);
      }
      return running.isEmpty();
    } finally {
      lock.unlock();
    }
  }
}
