package dev.holdfast.worker;

import dev.holdfast.loop.Loop;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stores what handlers reported since the last round. A loop of its own, so as not to delay the
 * heartbeat.
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
    inFlight.reports().stream()
        .filter(reports -> !reports.running().isOver())
        .forEach(Reporter::store);
    return PERIOD;
  }

  // One by one: a job whose report fails, or waits for an answer, must not hold up the others.
  private static void store(AttemptReports reports) {
    try {
      reports.storeUnlessUnderWay();
    } catch (RuntimeException e) {
      log.warn("Could not store what job {} said", reports.running().lease().key().jobId(), e);
    }
  }
}
