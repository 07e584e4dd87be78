package dev.holdfast.server.poll;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.lease.ClaimRequest;
import dev.holdfast.server.tenancy.Desk;
import dev.holdfast.tenant.TenantName;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;

/**
 * Workers that wait for work. None of them has a connection or asks the database itself: one {@link
 * Attendant} a tenant claims for all who are in its {@link Room}. Thread-safe.
 */
public final class LongPolls implements AutoCloseable {

  // A hurried round may miss a job for two seconds, and one comes every two.
  private static final Duration LONG_ENOUGH = Duration.ofSeconds(5);

  private final Map<String, Room> rooms = new ConcurrentHashMap<>(); // by tenant
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
    Room room = rooms.computeIfAbsent(desk.tenant().name().value(), name -> Attendant.room(desk));
    if (closed || !room.enter(waiter)) {
      return Hand.EMPTY;
    }
    boolean read = false;
    try {
      boolean inTime = waiter.isAnsweredWithin(wait);
      Hand hand = inTime ? waiter.answer.get() : room.leave(waiter).get();
      read = true;
      boolean seen = wait.compareTo(LONG_ENOUGH) >= 0; // by one of several rounds
      return inTime || seen || !hand.isEmpty() ? hand : lastLook(desk, request);
    } catch (ExecutionException e) {
      throw e.getCause() instanceof HoldfastException failure
          ? failure
          : new IllegalStateException(e);
    } finally {
      if (!read) { // the server ends: whatever it was given meanwhile, nobody will hear of it
        room.leave(waiter).exceptionally(failure -> Hand.EMPTY).join().giveBack();
      }
      room.forget(waiter);
    }
  }

  // Before it says that there is nothing, it looks at everything, where rounds are in a hurry.
  private static Hand lastLook(Desk desk, ClaimRequest request) {
    return Hand.claim(desk.leases(), request.thoroughly());
  }

  /** A tenant may have work. Does not block. */
  public void ring(String tenant) {
    Optional.ofNullable(rooms.get(tenant)).ifPresent(Room::ring);
  }

  /** How many wait for a tenant's work now. */
  public int waiting(TenantName tenant) {
    return Optional.ofNullable(rooms.get(tenant.value())).map(Room::size).orElse(0);
  }

  /** Lets everybody go, with nothing. */
  @Override
  public void close() {
    closed = true;
    rooms.values().forEach(Room::close);
  }
}
