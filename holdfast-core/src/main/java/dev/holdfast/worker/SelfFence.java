package dev.holdfast.worker;

import dev.holdfast.loop.Loop;
import dev.holdfast.worker.Running.Interruption;
import java.time.Duration;
import java.util.List;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stops handlers whose lease this process could not renew in time, before the lease can pass to
 * another worker. Runs on a thread of its own and by the monotonic clock, because the heartbeat it
 * watches may be stuck in a dead connection.
 */
final class SelfFence implements Loop.Step {

  private static final Logger log = LoggerFactory.getLogger(SelfFence.class);

  private static final Duration PERIOD = Duration.ofMillis(100);
  // Half of the shortest lease: an attempt that starts meanwhile is looked at in time.
  private static final Duration IDLE = Duration.ofMillis(500);

  private final InFlight inFlight;
  private final WorkerListener listener;
  private final LongSupplier nanoTime;

  SelfFence(InFlight inFlight, WorkerListener listener, LongSupplier nanoTime) {
    this.inFlight = inFlight;
    this.listener = listener;
    this.nanoTime = nanoTime;
  }

  @Override
  public Duration runOnce() {
    List<Running> all = inFlight.all();
    long stopped =
        all.stream()
            .filter(running -> running.isPastDeadline(nanoTime.getAsLong()) && !running.isOver())
            .filter(running -> running.interrupt(Interruption.UNRENEWED))
            .peek(running -> listener.leaseLost(running.lease()))
            .count();
    if (stopped > 0) {
      log.warn("Could not renew {} leases in time; their handlers are being stopped", stopped);
    }
    return all.isEmpty() ? IDLE : PERIOD;
  }
}
