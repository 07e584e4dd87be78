package dev.holdfast.server.poll;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Job;
import dev.holdfast.job.Outcome;
import dev.holdfast.lease.ClaimRequest;
import dev.holdfast.lease.Lease;
import dev.holdfast.lease.RemoteLeases;
import dev.holdfast.queue.Jobs;
import dev.holdfast.server.tenancy.Desk;
import dev.holdfast.tenant.TenantName;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
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
  private static final Duration HOSTS_KNOWN_FOR = Duration.ofSeconds(1);
  // A hurried round may miss a job for two seconds, and one comes every two.
  private static final Duration LONG_ENOUGH = Duration.ofSeconds(5);
  private static final Duration SIGN_OF_LIFE = Duration.ofSeconds(5);

  private final Map<TenantName, Room> rooms = new ConcurrentHashMap<>();
  private volatile boolean closed;

  /** Whoever waits, at the other end of the line. */
  public interface Caller {

    /** Told every few seconds. */
    void stillWaits();

    /** Nobody would read the answer. */
    boolean isGone();
  }

  /**
   * Waits for work.
   *
   * @return nothing, when nothing came within the wait
   */
  public Hand await(Desk desk, ClaimRequest request, Duration wait, Caller caller)
      throws InterruptedException {
    Waiter waiter = new Waiter(request, caller);
    Room room = rooms.computeIfAbsent(desk.tenant().name(), name -> new Room(desk));
    if (closed || !room.enter(waiter)) {
      return Hand.EMPTY;
    }
    try {
      if (await(waiter, wait)) {
        return waiter.answer.get();
      }
      Hand late = room.leave(waiter).get();
      boolean seen = wait.compareTo(LONG_ENOUGH) >= 0; // by one of several rounds
      return late.leases().isEmpty() && !seen ? lastLook(desk, request) : late;
    } catch (InterruptedException e) {
      Hand unread = room.leave(waiter).exceptionally(failure -> Hand.EMPTY).join();
      giveBack(desk.leases(), request, unread.leases().keySet()); // the server ends
      throw e;
    } catch (ExecutionException e) {
      throw e.getCause() instanceof HoldfastException failure
          ? failure
          : new IllegalStateException(e);
    } finally {
      room.forget(waiter);
    }
  }

  // Before it says that there is nothing, it looks at everything, where rounds are in a hurry.
  private static Hand lastLook(Desk desk, ClaimRequest request) {
    return Hand.of(desk.leases().claim(request.thoroughly()).leases(), desk.jobs());
  }

  /** What nobody will read goes to somebody else, at no cost. */
  private static void giveBack(
      RemoteLeases leases, ClaimRequest request, Collection<Lease> unread) {
    if (!unread.isEmpty()) {
      leases.finish(
          unread.stream()
              .map(lease ->
                  new RemoteLeases.End(
                      request.worker(),
                      lease.key().jobId(),
                      lease.key().fence(),
                      Outcome.snoozed(Duration.ZERO),
                      Optional.empty()))
              .toList());
    }
  }

  private static boolean await(Waiter waiter, Duration wait) throws InterruptedException {
    long until = System.nanoTime() + wait.toNanos();
    for (long left = wait.toNanos(); left > 0; left = until - System.nanoTime()) {
      if (waiter.isAnsweredWithin(Math.min(left, SIGN_OF_LIFE.toNanos()))) {
        return true;
      }
      waiter.caller.stillWaits();
    }
    return false;
  }

  /** A tenant may have work. Does not block. */
  public void ring(String tenant) {
    rooms.values().stream().filter(room -> room.tenant.value().equals(tenant)).forEach(Room::ring);
  }

  /** How many wait for a tenant's work now. */
  public int waiting(TenantName tenant) {
    Room room = rooms.get(tenant);
    return room == null ? 0 : room.size();
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
    final Caller caller;
    final CompletableFuture<Hand> answer = new CompletableFuture<>();
    private boolean superseded; // guarded by the room's lock

    Waiter(ClaimRequest request, Caller caller) {
      this.request = request;
      this.caller = caller;
    }

    boolean isAnsweredWithin(long nanos) throws InterruptedException {
      try {
        answer.get(nanos, TimeUnit.NANOSECONDS);
        return true;
      } catch (ExecutionException e) {
        return true; // whoever reads the answer finds it
      } catch (TimeoutException e) {
        return false;
      }
    }

    /** The same claim, asked again by somebody who thinks that the answer got lost. */
    boolean repeats(Waiter other) {
      return request.claimId().isPresent()
          && request.claimId().equals(other.request.claimId())
          && request.worker().equals(other.request.worker());
    }

    /**
     * What makes requests the same but for who asks, and how many.
     *
     * @param namedHosts where it matters; any other host is as good as none
     */
    Object shape(Set<String> namedHosts) {
      return List.of(
          request.queues(),
          request.kinds(),
          namedHosts.contains(request.host()) ? request.host() : "",
          request.labels(),
          request.leaseLength(),
          request.acknowledges());
    }
  }

  /** Those who wait for one tenant's work. Its fields are guarded by its lock. */
  private static final class Room {
    private final TenantName tenant;
    private final RemoteLeases leases;
    private final Jobs jobs;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Set<Waiter> waiters = new LinkedHashSet<>();
    private final Set<Waiter> beingServed = new HashSet<>();
    private Set<String> namedHosts = Set.of(); // of the one who attends
    private long lookedAtNanos = System.nanoTime() - HOSTS_KNOWN_FOR.toNanos() - 1;
    private boolean rung;
    private boolean attended;
    private boolean closed;

    Room(Desk desk) {
      this.tenant = desk.tenant().name();
      this.leases = desk.leases();
      this.jobs = desk.jobs();
    }

    private <T> T locked(Supplier<T> work) {
      lock.lock();
      try {
        return work.get();
      } finally {
        lock.unlock();
      }
    }

    boolean enter(Waiter waiter) {
      return locked(() -> {
        if (closed) {
          return false;
        }
        // Nobody reads their answers; of one that is being served, once it is.
        if (waiter.request.claimId().isPresent()) {
          waiters.stream().filter(waiter::repeats).forEach(earlier -> earlier.superseded = true);
          letGo(waiters.stream().filter(earlier -> earlier.superseded).toList());
        }
        waiters.add(waiter);
        rung = true; // something may have come between its own look and now
        if (attended) {
          changed.signalAll();
        } else {
          attended = true;
          Thread.ofVirtual().name("holdfast-poll-" + tenant).start(this::attend);
        }
        return true;
      });
    }

    /** Its time is over; what it is being given right now it still gets. */
    CompletableFuture<Hand> leave(Waiter waiter) {
      return locked(() -> {
        while (beingServed.contains(waiter)) {
          changed.awaitUninterruptibly();
        }
        waiters.remove(waiter);
        waiter.answer.complete(Hand.EMPTY); // unless it has got something
        return waiter.answer;
      });
    }

    boolean forget(Waiter waiter) {
      return locked(() -> waiters.remove(waiter));
    }

    void ring() {
      lock.lock();
      try {
        rung = true;
        changed.signalAll();
      } finally {
        lock.unlock();
      }
    }

    int size() {
      return locked(waiters::size);
    }

    void empty() {
      lock.lock();
      try {
        closed = true;
        letGo(List.copyOf(waiters));
        changed.signalAll();
      } finally {
        lock.unlock();
      }
    }

    // Who is being served may have got something: that is for whoever serves it to say.
    private void letGo(List<Waiter> some) {
      some.stream()
          .filter(waiter -> !beingServed.contains(waiter))
          .forEach(waiter -> {
            waiter.answer.complete(Hand.EMPTY);
            waiters.remove(waiter);
          });
    }

    private void attend() {
      Duration pause = Duration.ZERO;
      while (awaitReason(pause)) {
        pause = serveAll();
      }
    }

    private boolean awaitReason(Duration pause) {
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

    private Duration serveAll() {
      Duration next = POLL;
      for (List<Waiter> alike : groups()) {
        Duration wait = serve(alike);
        next = wait.compareTo(next) < 0 ? wait : next;
      }
      return next;
    }

    /** Alike but for names, limits and claim ids, and each name once. */
    private List<List<Waiter>> groups() {
      lookAtHosts();
      return locked(() -> {
        // What is dealt to one who hung up runs nowhere, and costs the job an attempt.
        letGo(waiters.stream().filter(waiter -> waiter.caller.isGone()).toList());
        Map<Object, List<Waiter>> groups = new LinkedHashMap<>();
        Map<Object, Set<String>> names = new LinkedHashMap<>();
        for (Waiter waiter : waiters) {
          Object shape = waiter.shape(namedHosts);
          if (names.computeIfAbsent(shape, key -> new HashSet<>()).add(waiter.request.worker())) {
            groups.computeIfAbsent(shape, key -> new ArrayList<>()).add(waiter);
            beingServed.add(waiter);
          }
        }
        return List.copyOf(groups.values());
      });
    }

    // Each worker is its own host, and so no two would be alike; but jobs seldom ask for one.
    private void lookAtHosts() {
      long now = System.nanoTime();
      if (now - lookedAtNanos > HOSTS_KNOWN_FOR.toNanos()) {
        try {
          namedHosts = leases.namedHosts();
          lookedAtNanos = now;
        } catch (RuntimeException e) {
          log.debug("Could not look which hosts jobs ask for; the claim will say why", e);
        }
      }
    }

    private Duration serve(List<Waiter> alike) {
      try {
        RemoteLeases.Dealt dealt =
            leases.claimForAll(alike.stream().map(waiter -> waiter.request).toList());
        List<Lease> all =
            dealt.hands().stream().flatMap(Optional::stream).flatMap(List::stream).toList();
        Map<UUID, Job> looked = Hand.look(all, jobs);
        for (int i = 0; i < alike.size(); i++) {
          Waiter waiter = alike.get(i);
          dealt.hands().get(i).ifPresent(hand -> answer(waiter, hand, looked));
        }
        boolean everybody = dealt.hands().stream().allMatch(Optional::isPresent);
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

    private void answer(Waiter waiter, List<Lease> hand, Map<UUID, Job> looked) {
      if (waiter.caller.isGone()) { // since it was looked at last
        waiter.answer.complete(Hand.EMPTY);
        giveBack(leases, waiter.request, hand);
        ring();
      } else {
        waiter.answer.complete(Hand.of(hand, looked));
      }
    }

    private void served(List<Waiter> alike) {
      lock.lock();
      try {
        alike.forEach(beingServed::remove);
        waiters.removeIf(waiter -> waiter.answer.isDone());
        letGo(waiters.stream().filter(waiter -> closed || waiter.superseded).toList());
        changed.signalAll();
      } finally {
        lock.unlock();
      }
    }
  }
}
