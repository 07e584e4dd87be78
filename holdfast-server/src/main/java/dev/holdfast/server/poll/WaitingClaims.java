package dev.holdfast.server.poll;

import dev.holdfast.server.poll.Waiter.Claim;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The requests that wait for work of one tenant. While there are any, a {@link SharedClaimLoop}
 * serves them. Thread-safe: its fields are guarded by its lock.
 */
final class WaitingClaims {

  private static final Logger log = LoggerFactory.getLogger(WaitingClaims.class);

  private final Consumer<WaitingClaims> callAttendant;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Set<Waiter> waiters = new LinkedHashSet<>();
  private final Map<Claim, Waiter> byClaim = new HashMap<>(); // the latest request
  private final Map<String, Waiter> byWorker = new HashMap<>(); // the latest request
  private final Set<Waiter> beingServed = new HashSet<>();
  private boolean rung;
  private boolean attended;
  private boolean closed;

  /**
   * Begins without requests.
   *
   * @param callAttendant starts a loop that serves until {@link #awaitReason} returns false; does
   *     not wait for it
   */
  WaitingClaims(Consumer<WaitingClaims> callAttendant) {
    this.callAttendant = callAttendant;
  }

  private <T> T locked(Supplier<T> work) {
    lock.lock();
    try {
      return work.get();
    } finally {
      lock.unlock();
    }
  }

  private void locked(Runnable work) {
    lock.lock();
    try {
      work.run();
    } finally {
      lock.unlock();
    }
  }

  boolean enter(Waiter waiter) {
    return locked(() -> {
      if (closed) {
        return false;
      }
      waiters.add(waiter);
      // The answer to an earlier request of this claim is not read. If that is being served,
      // served() removes it later.
      waiter.claim().map(claim -> byClaim.put(claim, waiter)).ifPresent(this::letGo);
      // The earlier request of a worker that was restarted would get leases meant for this one.
      Optional.ofNullable(byWorker.put(waiter.request.worker(), waiter))
          .filter(earlier -> !beingServed.contains(earlier) && earlier.isGone())
          .ifPresent(this::letGo);
      rung = true; // the new request needs a claim
      if (attended) {
        changed.signalAll();
      } else {
        attended = true;
        callAttendant.accept(this);
      }
      return true;
    });
  }

  /** The request's time is over. If it is being served right now, it still gets its leases. */
  CompletableFuture<LeaseDelivery> leave(Waiter waiter) {
    return locked(() -> {
      while (beingServed.contains(waiter)) {
        changed.awaitUninterruptibly();
      }
      waiter.answer.complete(LeaseDelivery.EMPTY); // unless it has leases
      remove(waiter);
      return waiter.answer;
    });
  }

  void forget(Waiter waiter) {
    locked(() -> remove(waiter));
  }

  void ring() {
    locked(() -> {
      rung = true;
      changed.signalAll();
    });
  }

  int size() {
    return locked(waiters::size);
  }

  /** Answers all requests, without leases, and accepts no more. */
  void close() {
    locked(() -> {
      closed = true;
      List.copyOf(waiters).forEach(this::letGo);
      changed.signalAll();
    });
  }

  // A request that is being served may have leases; the loop that serves it answers it.
  private void letGo(Waiter waiter) {
    if (!beingServed.contains(waiter)) {
      waiter.answer.complete(LeaseDelivery.EMPTY);
      remove(waiter);
    }
  }

  private void remove(Waiter waiter) {
    waiters.remove(waiter);
    waiter.claim().ifPresent(claim -> byClaim.remove(claim, waiter));
    byWorker.remove(waiter.request.worker(), waiter);
  }

  private boolean isSuperseded(Waiter waiter) {
    return waiter.claim().map(byClaim::get).filter(last -> !last.equals(waiter)).isPresent();
  }

  /**
   * For the loop: waits for a reason to claim. False when no request is left, and the loop must
   * end.
   */
  boolean awaitReason(Duration pause) {
    return locked(() -> {
      awaitChange(pause.toNanos());
      rung = false;
      attended = !waiters.isEmpty();
      return attended;
    });
  }

  private void awaitChange(long nanos) {
    long left = nanos;
    try {
      while (!waiters.isEmpty() && !rung && left > 0) {
        left = changed.awaitNanos(left);
      }
    } catch (InterruptedException e) {
      log.debug("As good a reason to look as any, and nobody does that", e);
    }
  }

  /**
   * For the loop, which must call {@link #served} for each group: requests that differ only in
   * worker, limit, claim id and hosts that no job names.
   */
  List<List<Waiter>> groups(Set<String> namedHosts) {
    return locked(() -> {
      // Leases for a client that hung up would have to be given back.
      waiters.stream().filter(Waiter::seemsGone).toList().forEach(this::letGo);
      Map<Object, List<Waiter>> groups = new LinkedHashMap<>();
      Map<Object, Set<String>> names = new HashMap<>();
      for (Waiter waiter : waiters) {
        Object shape = waiter.shape(namedHosts);
        // Each worker once per group, because leases that are granted together are told apart by
        // it.
        if (names.computeIfAbsent(shape, key -> new HashSet<>()).add(waiter.request.worker())) {
          groups.computeIfAbsent(shape, key -> new ArrayList<>()).add(waiter);
          beingServed.add(waiter);
        }
      }
      return List.copyOf(groups.values());
    });
  }

  void served(List<Waiter> alike) {
    locked(() -> {
      alike.forEach(beingServed::remove);
      alike.stream().filter(waiter -> waiter.answer.isDone()).forEach(this::remove);
      waiters.stream()
          .filter(waiter -> closed || isSuperseded(waiter))
          .toList()
          .forEach(this::letGo);
      changed.signalAll();
    });
  }
}
