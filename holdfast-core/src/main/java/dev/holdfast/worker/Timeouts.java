package dev.holdfast.worker;

import dev.holdfast.loop.Loop;
import dev.holdfast.worker.Running.Interruption;
import java.time.Duration;
import java.util.List;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Interrupts handlers that run longer than they may, and reports those that do not stop. */
final class Timeouts implements Loop.Step {

  private static final Logger log = LoggerFactory.getLogger(Timeouts.class);

  private static final Duration PERIOD = Duration.ofMillis(200);
  private static final Duration IDLE = Duration.ofMillis(500);

  // Long enough for a handler to store something and close a connection.
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private final InFlight inFlight;
  private final WorkerListener listener;
  private final LongSupplier nanoTime;

  Timeouts(InFlight inFlight, WorkerListener listener, LongSupplier nanoTime) {
    this.inFlight = inFlight;
    this.listener = listener;
    this.nanoTime = nanoTime;
  }

  @Override
  public Duration runOnce() {
    long now = nanoTime.getAsLong();
    List<Running> all = inFlight.all();
    for (Running running : all) {
      if (running.isTimedOut(now) && running.interruption().isEmpty()) {
        boolean unused = running.interrupt(Interruption.TIMEOUT);
      }
      if (running.turnsOutStubborn(now, PATIENCE)) {
        log.warn(
            "Handler of {} job {} goes on {} after it was interrupted ({})",
            running.lease().kind(),
            running.lease().key().jobId(),
            PATIENCE,
            running.interruption().map(Enum::name).orElse(""));
        listener.stubborn(running.lease());
      }
    }
    return all.isEmpty() ? IDLE : PERIOD;
  }
}
