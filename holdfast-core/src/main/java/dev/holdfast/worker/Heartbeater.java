package dev.holdfast.worker;

import dev.holdfast.lease.Extension;
import dev.holdfast.lease.Lease;
import dev.holdfast.lease.LeaseSource;
import dev.holdfast.loop.Loop;
import dev.holdfast.worker.Running.Interruption;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Renews all leases of the worker, and tells the attempts of stop requests and lost leases. */
final class Heartbeater implements Loop.Step {

  private static final Logger log = LoggerFactory.getLogger(Heartbeater.class);

  // Three beats must fit in a lease, or one slow round trip loses the job.
  private static final int BEATS_PER_LEASE = 3;

  private final LeaseSource leases;
  private final Duration interval;
  private final InFlight inFlight;
  private final WorkerListener listener;
  private volatile long nextBeatNanos = System.nanoTime();

  Heartbeater(LeaseSource leases, Duration interval, InFlight inFlight, WorkerListener listener) {
    this.leases = leases;
    this.interval = interval;
    this.inFlight = inFlight;
    this.listener = listener;
  }

  @Override
  public Duration runOnce() {
    // Set before the attempts are listed: one that is added just then may be missed, and checks
    // this in isTooLateFor.
    nextBeatNanos = System.nanoTime() + interval.toNanos();
    List<Lease> held =
        inFlight.all().stream().filter(Running::wantsRenewal).map(Running::lease).toList();
    if (!held.isEmpty()) {
      long sentNanos = System.nanoTime();
      leases.extend(held).forEach(extension -> hear(extension, sentNanos));
    }
    Duration untilNext =
        held.stream()
            .map(Heartbeater::betweenBeats)
            .min(Comparator.naturalOrder())
            .filter(shortest -> shortest.compareTo(interval) < 0)
            .orElse(interval);
    nextBeatNanos = System.nanoTime() + untilNext.toNanos();
    return untilNext;
  }

  private static Duration betweenBeats(Lease lease) {
    return lease.length().dividedBy(BEATS_PER_LEASE);
  }

  /** Whether the next beat, as planned, would come too late for a lease that begins now. */
  boolean isTooLateFor(Lease lease) {
    return nextBeatNanos - System.nanoTime() > betweenBeats(lease).toNanos();
  }

  private void hear(Extension extension, long sentNanos) {
    inFlight
        .find(extension.key())
        .ifPresent(running -> hear(running, extension.status(), sentNanos));
  }

  private void hear(Running running, Extension.Status status, long sentNanos) {
    switch (status) {
      case EXTENDED -> running.renewed(sentNanos);
      case STOP_REQUESTED -> {
        running.renewed(sentNanos);
        if (running.interruption().isEmpty()) { // once: its clean-up must not be disturbed
          boolean unused = running.interrupt(Interruption.STOP);
        }
      }
      case BUSY -> log.debug("Row of job {} is locked, its lease not renewed", id(running));
      case LOST -> {
        boolean wasLost = running.isLost();
        // When no handler runs, the attempt has ended, and its end may just have been recorded.
        if (running.interrupt(Interruption.LOST) && !wasLost) {
          log.debug("Lease of job {} lost on heartbeat", id(running));
          listener.leaseLost(running.lease());
        }
      }
    }
  }

  private static UUID id(Running running) {
    return running.lease().key().jobId();
  }
}
