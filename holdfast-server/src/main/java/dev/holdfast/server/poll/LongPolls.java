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
 * The requests of workers that wait for work. They hold no connection and run no query: one {@link
 * SharedClaimLoop} per tenant claims for all requests in its {@link WaitingClaims}. Thread-safe.
 */
public final class LongPolls implements AutoCloseable {

  // A round that is not thorough may miss a job for two seconds; one starts every two seconds.
  private static final Duration LONG_ENOUGH = Duration.ofSeconds(5);

  private final Map<String, WaitingClaims> waitingByTenant = new ConcurrentHashMap<>();
  private volatile boolean closed;

  /** The client of a waiting request. */
  public interface Caller {

    /** Called every few seconds while the request waits. */
    void stillWaits();

    /** Whether the client has hung up and would not read the answer. */
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
      boolean seen = wait.compareTo(LONG_ENOUGH) >= 0; // several rounds have looked for work
      return inTime || seen || !delivery.isEmpty() ? delivery : lastLook(services, request);
    } catch (ExecutionException e) {
      throw e.getCause() instanceof HoldfastException failure
          ? failure
          : new IllegalStateException(e);
    } finally {
      if (!read) { // interrupted or failed: leases granted meanwhile would not be delivered
        waiting.leave(waiter).exceptionally(failure -> LeaseDelivery.EMPTY).join().giveBack();
      }
      waiting.forget(waiter);
    }
  }

  // Rounds may miss a job, so a short wait ends with a thorough claim before the answer is empty.
  private static LeaseDelivery lastLook(TenantServices services, ClaimRequest request) {
    return LeaseDelivery.claim(services.leases(), request.thoroughly());
  }

  /** Announces that a tenant may have work. Does not block. */
  public void ring(String tenant) {
    Optional.ofNullable(waitingByTenant.get(tenant)).ifPresent(WaitingClaims::ring);
  }

  /** The number of requests that wait for work of a tenant. */
  public int waiting(TenantName tenant) {
    return Optional.ofNullable(waitingByTenant.get(tenant.value()))
        .map(WaitingClaims::size)
        .orElse(0);
  }

  /** Answers all waiting requests, without leases. */
  @Override
  public void close() {
    closed = true;
    waitingByTenant.values().forEach(WaitingClaims::close);
  }
}
