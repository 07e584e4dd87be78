package dev.holdfast.metrics;

import dev.holdfast.job.Outcome;
import dev.holdfast.lease.FinishReply;
import dev.holdfast.lease.Lease;
import dev.holdfast.worker.WorkerListener;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.Locale;

/**
 * Meters of a worker: {@code holdfast.claim} (time and jobs per claim), {@code holdfast.attempt}
 * (time per handler run, by queue, kind and outcome), {@code holdfast.finished} (recorded ends, by
 * state) and {@code holdfast.lease.lost}. Thread-safe.
 */
public final class MicrometerListener implements WorkerListener {

  private final MeterRegistry registry;
  private final Timer claimTime;
  private final DistributionSummary claimJobs;
  private final Counter leasesLost;

  public MicrometerListener(MeterRegistry registry) {
    this.registry = registry;
    this.claimTime = registry.timer("holdfast.claim");
    this.claimJobs = registry.summary("holdfast.claim.jobs");
    this.leasesLost = registry.counter("holdfast.lease.lost");
  }

  @Override
  public void claimed(int jobs, Duration took) {
    claimTime.record(took);
    claimJobs.record(jobs);
  }

  @Override
  public void ended(Lease lease, Outcome outcome, Duration ran) {
    Tags tags =
        tags(lease).and("outcome", outcome.getClass().getSimpleName().toLowerCase(Locale.ROOT));
    registry.timer("holdfast.attempt", tags).record(ran);
  }

  @Override
  public void finished(Lease lease, FinishReply reply) {
    if (reply instanceof FinishReply.Recorded recorded) {
      Tags tags = tags(lease).and("state", recorded.state().stored());
      registry.counter("holdfast.finished", tags).increment();
    }
  }

  @Override
  public void leaseLost(Lease lease) {
    leasesLost.increment();
  }

  // No job or tenant ids: a time series for each would outlive the job for ever.
  private static Tags tags(Lease lease) {
    return Tags.of("queue", lease.queue(), "kind", lease.kind());
  }
}
