package dev.holdfast.metrics;

import dev.holdfast.job.Outcome;
import dev.holdfast.job.SlotKey;
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
 * Meters of a worker: {@code holdfast.claim} (time per claim), {@code holdfast.claim.jobs} (jobs
 * per claim), {@code holdfast.attempt} (time per handler run, by queue, kind and outcome), {@code
 * holdfast.finished} (recorded ends, by queue, kind and state), {@code holdfast.lease.lost}, {@code
 * holdfast.handler.stubborn} (handlers that were interrupted and still run, so that their permits
 * are taken), and for the runs of schedules {@code holdfast.schedule.run} (time, by schedule and
 * outcome), {@code holdfast.schedule.rows} and {@code holdfast.schedule.recovered} (runs of dead
 * workers that failed when this worker started). Thread-safe.
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
    registry.timer("holdfast.attempt", tags(lease).and("outcome", name(outcome))).record(ran);
  }

  @Override
  public void runsRecovered(int runs) {
    registry.counter("holdfast.schedule.recovered").increment(runs);
  }

  @Override
  public void scheduledRunEnded(SlotKey slot, Outcome outcome, Duration ran, long rows) {
    Tags tags = Tags.of("schedule", slot.schedule());
    registry.timer("holdfast.schedule.run", tags.and("outcome", name(outcome))).record(ran);
    registry.counter("holdfast.schedule.rows", tags).increment((double) rows);
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

  @Override
  public void stubborn(Lease lease) {
    registry.counter("holdfast.handler.stubborn", tags(lease)).increment();
  }

  private static String name(Outcome outcome) {
    return outcome.getClass().getSimpleName().toLowerCase(Locale.ROOT);
  }

  // No job or tenant ids: the time series of each would outlive the job for ever.
  private static Tags tags(Lease lease) {
    return Tags.of("queue", lease.queue(), "kind", lease.kind());
  }
}
