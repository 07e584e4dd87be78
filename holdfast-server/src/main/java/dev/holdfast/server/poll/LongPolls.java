package dev.holdfast.server.poll;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.lease.ClaimRequest;
import dev.holdfast.lease.Lease;
import dev.holdfast.lease.RemoteLeases;
import dev.holdfast.tenant.TenantName;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Workers that wait for work. None of them has a connection or asks the database itself: one thread
 * a tenant claims for all of them at once, when something was announced, is due, or a while has
 * passed. Thread-safe.
 */
public final class LongPolls implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(LongPolls.class);

  // What was announced and not heard of is found after so long, as by any worker.
  private static final Duration POLL = Duration.ofSeconds(2);
  private static final Duration LEAST = Duration.ofMillis(5);

  private final Map<TenantName, Room> rooms = new ConcurrentHashMap<>();
  private volatile boolean closed;

  /**
   * Waits for work.
   *
   * @return nothing, when nothing came within the wait
   */
  public List<Lease> await(
      TenantName tenant, RemoteLeases leases, ClaimRequest request, Duration wait)
      throws InterruptedException {
    Waiter waiter = new Waiter(request);
    Room room = rooms.computeIfAbsent(tenant, name -> new Room(name, leases));
    if (closed || !room.enter(waiter)) {
      return List.of();
    }
    try {
      return waiter.answer.get(wait.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      return room.leave(waiter);
    } catch (ExecutionException e) {
      throw e.getCause() instanceof HoldfastException failure
          ? failure
          : new IllegalStateException(e);
    } finally {
      room.forget(waiter);
    }
  }

  /** A tenant may have work. Does not block. */
  public void ring(String tenant) {
    rooms.values().stream().filter(room -> room.tenant.value().equals(tenant)).forEach(Room::ring);
  }

  /** How many wait now. */
  public int waiting() {
    return rooms.values().stream().mapToInt(Room::size).sum();
  }

  /** Lets everybody go, with nothing. */
  @Override
  public void close() {
    closed = true;
    rooms.values().forEach(Room::empty);
  }

  /** One who waits. Whoever completes the answer has decided, for both sides. */
  private static final class Waiter {
    final ClaimRequest request;
    final CompletableFuture<List<Lease>> answer = new CompletableFuture<>();

    Waiter(ClaimRequest request) {
      this.request = request;
    }

    /** What makes requests the same but for who asks, and how many. */
    Object shape() {
      return List.of(
          request.queues(),
          request.kinds(),
          request.host(),
          request.labels(),
          request.leaseLength(),
          request.acknowledges());
    }
  }

  /** Those who wait for one tenant's work. Its fields are guarded by its monitor. */
  private static final class Room {
    private final TenantName tenant;
    private final RemoteLeases leases;
    private final Set<Waiter> waiters = new java.util.LinkedHashSet<>();
    private final Set<Waiter> beingServed = new HashSet<>();
    private boolean rung;
    private boolean attended;
    private boolean closed;

    Room(TenantName tenant, RemoteLeases leases) {
      this.tenant = tenant;
      this.leases = leases;
    }

    synchronized boolean enter(Waiter waiter) {
      if (closed) {
        return false;
      }
      waiters.add(waiter);
      rung = true; // something may have come between its own look and now
      if (attended) {
        notifyAll();
      } else {
        attended = true;
        Thread.ofVirtual().name("holdfast-poll-" + tenant).start(this::attend);
      }
      return true;
    }

    /** Its time is over; what it is being given right now it still gets. */
    List<Lease> leave(Waiter waiter) throws InterruptedException {
      synchronized (this) {
        while (beingServed.contains(waiter)) {
          wait();
        }
        waiters.remove(waiter);
      }
      return waiter.answer.getNow(List.of());
    }

    synchronized void forget(Waiter waiter) {
      waiters.remove(waiter);
    }

    synchronized void ring() {
      rung = true;
      notifyAll();
    }

    synchronized int size() {
      return waiters.size();
    }

    synchronized void empty() {
      closed = true;
      waiters.forEach(waiter -> waiter.answer.complete(List.of()));
      waiters.clear();
      notifyAll();
    }

    private void attend() {
      Duration pause = Duration.ZERO;
      while (awaitReason(pause)) {
        pause = serveAll();
      }
    }

    private synchronized boolean awaitReason(Duration pause) {
      long until = System.nanoTime() + pause.toNanos();
      while (!waiters.isEmpty() && !rung) {
        long left = (until - System.nanoTime()) / 1_000_000;
        if (left <= 0) {
          break;
        }
        try {
          wait(left);
        } catch (InterruptedException e) {
          break;
        }
      }
      rung = false;
      attended = !waiters.isEmpty();
      return attended;
    }

    private Duration serveAll() {
      Duration next = POLL;
      for (List<Waiter> alike : groups()) {
        Duration wait = serve(alike);
        next = wait.compareTo(next) < 0 ? wait : next;
      }
      return next;
    }

    /** Alike but for names, limits and claim ids, and each name once. */
    private synchronized List<List<Waiter>> groups() {
      Map<Object, List<Waiter>> groups = new LinkedHashMap<>();
      Map<Object, Set<String>> names = new LinkedHashMap<>();
      for (Waiter waiter : waiters) {
        Object shape = waiter.shape();
        if (names.computeIfAbsent(shape, key -> new HashSet<>()).add(waiter.request.worker())) {
          groups.computeIfAbsent(shape, key -> new ArrayList<>()).add(waiter);
          beingServed.add(waiter);
        }
      }
      return List.copyOf(groups.values());
    }

    private Duration serve(List<Waiter> alike) {
      try {
        RemoteLeases.Dealt dealt =
            leases.claimForAll(alike.stream().map(waiter -> waiter.request).toList());
        boolean everybody = true;
        for (int i = 0; i < alike.size(); i++) {
          List<Lease> hand = dealt.leases().get(i);
          everybody &= !hand.isEmpty();
          if (!hand.isEmpty()) {
            alike.get(i).answer.complete(hand);
          }
        }
        Optional<Duration> due = dealt.nextDueIn();
        return everybody
            ? LEAST
            : due.filter(wait -> wait.compareTo(LEAST) > 0).orElse(due.isPresent() ? LEAST : POLL);
      } catch (RuntimeException e) {
        log.debug("Could not claim for those who wait in tenant {}", tenant, e);
        alike.forEach(waiter -> waiter.answer.completeExceptionally(e));
        return POLL;
      } finally {
        served(alike);
      }
    }

    private synchronized void served(List<Waiter> alike) {
      alike.forEach(beingServed::remove);
      waiters.removeIf(waiter -> waiter.answer.isDone());
      notifyAll();
    }
  }
}
