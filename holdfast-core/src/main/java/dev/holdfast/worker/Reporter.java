package dev.holdfast.worker;

import dev.holdfast.loop.Loop;
import java.time.Duration;

/**
 * Stores what handlers said since the last round. Apart from the heartbeat, so as not to delay it.
 */
final class Reporter implements Loop.Step {

  private static final Duration PERIOD = Duration.ofSeconds(1);

  private final InFlight inFlight;

  Reporter(InFlight inFlight) {
    this.inFlight = inFlight;
  }

  @Override
  public Duration runOnce() {
    inFlight.all().stream()
        .filter(running -> !running.isLost())
        .forEach(running -> {
          boolean unused = running.context().flush(); // a lost lease interrupts the handler
        });
    return PERIOD;
  }
}
