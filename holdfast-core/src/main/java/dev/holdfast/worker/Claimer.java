package dev.holdfast.worker;

import dev.holdfast.job.Limits;
import dev.holdfast.lease.ClaimRequest;
import dev.holdfast.lease.Claimed;
import dev.holdfast.loop.Loop;
import dev.holdfast.loop.Pace;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;

/**
 * Claims as many jobs as there are free permits, and starts them. {@link #runOnce} belongs to the
 * claim loop's thread; any thread may call the rest, as those do that free a permit.
 */
final class Claimer implements Loop.Step {

  private static final Duration SETTLE = Duration.ofNanos(250_000);
  private static final int MOST_SETTLES = 8;

  private final WorkerDependencies dependencies;
  private final WorkerConfig config;
  private final WorkerSetup setup;
  private final InFlight inFlight;
  private final Runner runner;
  private final Pace pace = new Pace();
  private boolean backlog;
  private volatile boolean hungry;

  Claimer(
      WorkerDependencies dependencies,
      WorkerConfig config,
      WorkerSetup setup,
      InFlight inFlight,
      Runner runner) {
    this.dependencies = dependencies;
    this.config = config;
    this.setup = setup;
    this.inFlight = inFlight;
    this.runner = runner;
  }

  @Override
  public Duration runOnce() {
    hungry = false;
    if (dependencies.draining().getAsBoolean()) {
      backlog = false;
      dependencies.idle().ends();
      return config.pollInterval(); // running jobs go on; draining is checked again
    }
    int free = backlog ? settledPermits() : inFlight.freePermits();
    if (free <= 0) {
      hungry = true;
      free = inFlight.freePermits(); // a permit freed before that has not woken us
    }
    if (free <= 0) {
      dependencies.idle().ends();
      return config.pollInterval();
    }
    int limit = Math.min(free, Limits.CLAIM_JOBS);
    if (!backlog) {
      pace.begin();
    }
    long sentNanos = System.nanoTime();
    Claimed claimed = claim(limit);
    pace.end();
    claimed.leases().forEach(lease -> runner.start(lease, sentNanos));
    backlog = claimed.leases().size() == limit;
    Duration next = backlog ? Duration.ZERO : untilNext(claimed.nextDueIn());
    if (next.isZero()) {
      dependencies.idle().ends();
    } else {
      dependencies.idle().begins();
    }
    setup
        .listener()
        .claimed(claimed.leases().size(), Duration.ofNanos(System.nanoTime() - sentNanos));
    return next;
  }

  private Claimed claim(int limit) {
    try {
      return dependencies.leases().claim(request(limit));
    } catch (RuntimeException e) {
      dependencies.idle().ends(); // it has no use for its permits
      throw e;
    }
  }

  /**
   * Whether the last round found no free permit, so that the next freed one is to wake the loop.
   */
  boolean isHungry() {
    return hungry;
  }

  ClaimRequest request(int limit) {
    return ClaimRequest.of(config.name(), config.queues(), limit)
        .withKinds(setup.handlers().kinds().all())
        .withPlace(config.host(), config.labels());
  }

  // With a backlog, permits come free one by one, many a millisecond. Claiming each at once would
  // turn one statement for hundreds of jobs into hundreds of statements, so wait as long as more
  // permits keep coming, up to half of them.
  private int settledPermits() {
    int enough = Math.max(1, config.concurrency() / 2);
    int free = inFlight.freePermits();
    for (int i = 0; i < MOST_SETTLES && free > 0 && free < enough; i++) {
      LockSupport.parkNanos(SETTLE.toNanos());
      int before = free;
      free = inFlight.freePermits();
      if (free == before) {
        break;
      }
    }
    return free;
  }

  private Duration untilNext(Optional<Duration> nextDueIn) {
    return nextDueIn
        .filter(due -> due.compareTo(config.pollInterval()) < 0)
        .orElse(config.pollInterval());
  }
}
