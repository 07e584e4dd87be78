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
 * Those who wait for one tenant's work. While there are any, an attendant serves them. Thread-safe:
 * its fields are guarded by its lock.
 */
final class WaitingClaims {

  private static final Logger log = LoggerFactory.getLogger(WaitingClaims.class);

  private final Consumer<WaitingClaims> callAttendant;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Set<Waiter> waiters = new LinkedHashSet<>();
  private final Map<Claim, Waiter> byClaim = new HashMap<>(); // the last to ask
  private final Map<String, Waiter> byWorker = new HashMap<>(); // the last to ask
  private final Set<Waiter> beingServed = new HashSet<>();
  private boolean rung;
  private boolean attended;
  private boolean closed;

  /**
   * An empty one.
   *
   * @param callAttendant starts one who serves until {@link #awaitReason} says no, and returns
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
      // Nobody reads the answer to an earlier one; of one that is being served, once it is.
      waiter.claim().map(claim -> byClaim.put(claim, waiter)).ifPresent(this::letGo);
      // The earlier life of one that was started anew would be dealt what is for this one.
      Optional.ofNullable(byWorker.put(waiter.request.worker(), waiter))
          .filter(earlier -> !beingServed.contains(earlier) && earlier.isGone())
          .ifPresent(this::letGo);
      rung = true; // something may have come between its own look and now
      if (attended) {
        changed.signalAll();
      } else {
        attended = true;
        callAttendant.accept(this);
      }
      return true;
    });
  }

  /** Its time is over; what it is being given right now it still gets. */
  CompletableFuture<LeaseDelivery> leave(Waiter waiter) {
    return locked(() -> {
      while (beingServed.contains(waiter)) {
        changed.awaitUninterruptibly();
      }
      waiter.answer.complete(LeaseDelivery.EMPTY); // unless it has got something
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

  /** Lets everybody go, and nobody else in. */
  void close() {
    locked(() -> {
      closed = true;
      List.copyOf(waiters).forEach(this::letGo);
      changed.signalAll();
    });
  }

  // Who is being served may have got something: that is for whoever serves it to say.
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

  /** For the attendant: waits for something to do; false when nobody is left. */
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
   * For the attendant, who says when they are served: alike but for names, limits and claim ids.
   */
  List<List<Waiter>> groups(Set<String> namedHosts) {
    return locked(() -> {
      // What is dealt to one who hung up has to be given back.
      waiters.stream().filter(Waiter::seemsGone).toList().forEach(this::letGo);
      Map<Object, List<Waiter>> groups = new LinkedHashMap<>();
      Map<Object, Set<String>> names = new HashMap<>();
      for (Waiter waiter : waiters) {
        Object shape = waiter.shape(namedHosts);
        // Each name once, because what is granted together is told apart by it.
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
