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

/** One who waits. Whoever completes the answer has decided, for both sides. */
final class Waiter {

  private static final Logger log = LoggerFactory.getLogger(Waiter.class);

  private static final Duration SIGN_OF_LIFE = Duration.ofSeconds(5);
  private static final long BELIEVED_THERE_NANOS = Duration.ofSeconds(1).toNanos();

  /** A claim and its id, which stay the same when it is asked again. */
  record Claim(String worker, String claimId) {}

  final ClaimRequest request;
  final Caller caller;
  final CompletableFuture<LeaseDelivery> answer = new CompletableFuture<>();
  private long thereAtNanos = System.nanoTime(); // guarded by the room's lock

  Waiter(ClaimRequest request, Caller caller) {
    this.request = request;
    this.caller = caller;
  }

  Optional<Claim> claim() {
    return request.claimId().map(id -> new Claim(request.worker(), id));
  }

  /** Whether the answer is there before the wait is over. */
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
      return true; // whoever reads the answer finds it
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
   * Whether it hung up, as far as is known: to look is to read from its connection, too dear for
   * all of a thousand in each of a hundred rounds a second.
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
