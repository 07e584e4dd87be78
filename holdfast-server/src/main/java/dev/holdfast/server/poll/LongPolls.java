package dev.holdfast.server.poll;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.lease.ClaimRequest;
import dev.holdfast.server.tenancy.TenantServices;
import dev.holdfast.tenant.TenantName;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;

/**
 * Workers that wait for work. None of them has a connection or asks the database itself: one {@link
 * SharedClaimLoop} a tenant claims for all who are in its {@link WaitingClaims}. Thread-safe.
 */
public final class LongPolls implements AutoCloseable {

  // A hurried round may miss a job for two seconds, and one comes every two.
  private static final Duration LONG_ENOUGH = Duration.ofSeconds(5);

  private final Map<String, WaitingClaims> waitingByTenant = new ConcurrentHashMap<>(); // by tenant
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
  public LeaseDelivery await(
      TenantServices services, ClaimRequest request, Duration wait, Caller caller)
      throws InterruptedException {
    Waiter waiter = new Waiter(request, caller);
    WaitingClaims waiting =
        waitingByTenant.computeIfAbsent(
            services.tenant().name().value(), name -> SharedClaimLoop.waiting(services));
    if (closed || !waiting.enter(waiter)) {
      return LeaseDelivery.EMPTY;
    }
    boolean read = false;
    try {
      boolean inTime = waiter.isAnsweredWithin(wait);
      LeaseDelivery delivery = inTime ? waiter.answer.get() : waiting.leave(waiter).get();
      read = true;
      boolean seen = wait.compareTo(LONG_ENOUGH) >= 0; // by one of several rounds
      return inTime || seen || !delivery.isEmpty() ? delivery : lastLook(services, request);
    } catch (ExecutionException e) {
      throw e.getCause() instanceof HoldfastException failure
          ? failure
          : new IllegalStateException(e);
    } finally {
      if (!read) { // the server ends: whatever it was given meanwhile, nobody will hear of it
        waiting.leave(waiter).exceptionally(failure -> LeaseDelivery.EMPTY).join().giveBack();
      }
      waiting.forget(waiter);
    }
  }

  // Before it says that there is nothing, it looks at everything, where rounds are in a hurry.
  private static LeaseDelivery lastLook(TenantServices services, ClaimRequest request) {
    return LeaseDelivery.claim(services.leases(), request.thoroughly());
  }

  /** A tenant may have work. Does not block. */
  public void ring(String tenant) {
    Optional.ofNullable(waitingByTenant.get(tenant)).ifPresent(WaitingClaims::ring);
  }

  /** How many wait for a tenant's work now. */
  public int waiting(TenantName tenant) {
    return Optional.ofNullable(waitingByTenant.get(tenant.value()))
        .map(WaitingClaims::size)
        .orElse(0);
  }

  /** Lets everybody go, with nothing. */
  @Override
  public void close() {
    closed = true;
    waitingByTenant.values().forEach(WaitingClaims::close);
  }
}
