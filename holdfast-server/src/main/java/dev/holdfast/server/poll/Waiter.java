package dev.holdfast.server.poll;

import dev.holdfast.lease.ClaimRequest;
import dev.holdfast.server.poll.LongPolls.Caller;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One request that waits for leases. The first to complete {@code answer}, the claim loop or the
 * request itself, decides the outcome for both.
 */
final class Waiter {

  private static final Logger log = LoggerFactory.getLogger(Waiter.class);

  private static final Duration SIGN_OF_LIFE = Duration.ofSeconds(5);
  private static final long BELIEVED_THERE_NANOS = Duration.ofSeconds(1).toNanos();

  /** Identifies a claim: both values stay the same when the request is repeated. */
  record Claim(String worker, String claimId) {}

  final ClaimRequest request;
  final Caller caller;
  final CompletableFuture<LeaseDelivery> answer = new CompletableFuture<>();
  private long thereAtNanos = System.nanoTime(); // guarded by the lock of WaitingClaims

  Waiter(ClaimRequest request, Caller caller) {
    this.request = request;
    this.caller = caller;
  }

  Optional<Claim> claim() {
    return request.claimId().map(id -> new Claim(request.worker(), id));
  }

  /** Whether the answer arrives before the wait is over. */
  boolean isAnsweredWithin(Duration wait) throws InterruptedException {
    long until = System.nanoTime() + wait.toNanos();
    for (long left = wait.toNanos(); left > 0; left = until - System.nanoTime()) {
      if (isAnsweredWithin(Math.min(left, SIGN_OF_LIFE.toNanos()))) {
        return true;
      }
      caller.stillWaits();
    }
    return false;
  }

  private boolean isAnsweredWithin(long nanos) throws InterruptedException {
    try {
      answer.get(nanos, TimeUnit.NANOSECONDS);
      return true;
    } catch (ExecutionException e) {
      return true; // the failure is thrown when the answer is read
    } catch (TimeoutException e) {
      return false;
    }
  }

  boolean isGone() {
    try {
      return caller.isGone();
    } catch (RuntimeException e) {
      log.debug(
          "Could not look whether {} is there; it is answered that there is nothing", request, e);
      return true;
    }
  }

  /**
   * Whether the client has hung up, as far as is known. The connection is checked at most once a
   * second, because a check reads from it, which is too expensive for a thousand requests in a
   * hundred rounds a second.
   */
  boolean seemsGone() {
    long now = System.nanoTime();
    if (now - thereAtNanos < BELIEVED_THERE_NANOS) {
      return false;
    }
    thereAtNanos = now;
    return isGone();
  }

  /**
   * What requests must have in common to share a claim: everything but worker, limit and claim id.
   *
   * @param namedHosts the hosts that jobs name; all other hosts count as equal
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
