package dev.holdfast.worker;

import dev.holdfast.loop.Loop;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stores what handlers said since the last round. Apart from the heartbeat, so as not to delay it.
 */
final class Reporter implements Loop.Step {

  private static final Logger log = LoggerFactory.getLogger(Reporter.class);

  private static final Duration PERIOD = Duration.ofSeconds(1);

  private final InFlight inFlight;

  Reporter(InFlight inFlight) {
    this.inFlight = inFlight;
  }

  @Override
  public Duration runOnce() {
    inFlight.all().stream().filter(running -> !running.isOver()).forEach(Reporter::flush);
    return PERIOD;
  }

  // One by one: what cannot be stored for one job must not keep the others' from it.
  private static void flush(Running running) {
    try {
      boolean unused = running.context().store(); // a lost lease interrupts the handler
    } catch (RuntimeException e) {
      log.warn("Could not store what job {} said", running.lease().key().jobId(), e);
    }
  }
}
