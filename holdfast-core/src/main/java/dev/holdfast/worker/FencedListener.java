package dev.holdfast.worker;

import dev.holdfast.job.Outcome;
import dev.holdfast.job.SlotKey;
import dev.holdfast.lease.FinishReply;
import dev.holdfast.lease.Lease;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Keeps what a listener throws from reaching the worker. */
record FencedListener(WorkerListener listener) implements WorkerListener {

  private static final Logger log = LoggerFactory.getLogger(FencedListener.class);

  @Override
  public void claimed(int jobs, Duration took) {
    tell(() -> listener.claimed(jobs, took));
  }

  @Override
  public void ended(Lease lease, Outcome outcome, Duration ran) {
    tell(() -> listener.ended(lease, outcome, ran));
  }

  @Override
  public void scheduledRunEnded(SlotKey slot, Outcome outcome, Duration ran, long rows) {
    tell(() -> listener.scheduledRunEnded(slot, outcome, ran, rows));
  }

  @Override
  public void runsRecovered(int runs) {
    tell(() -> listener.runsRecovered(runs));
  }

  @Override
  public void finished(Lease lease, FinishReply reply) {
    tell(() -> listener.finished(lease, reply));
  }

  @Override
  public void leaseLost(Lease lease) {
    tell(() -> listener.leaseLost(lease));
  }

  @Override
  public void stubborn(Lease lease) {
    tell(() -> listener.stubborn(lease));
  }

  private static void tell(Runnable call) {
    try {
      call.run();
    } catch (RuntimeException | LinkageError | AssertionError e) {
      log.warn("A worker's listener failed", e);
    }
  }
}
