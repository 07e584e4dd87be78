package dev.holdfast.worker;

import dev.holdfast.job.Outcome;
import dev.holdfast.job.SlotKey;
import dev.holdfast.lease.FinishReply;
import dev.holdfast.lease.Lease;
import dev.holdfast.loop.SafeLog;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Calls every listener, and keeps what one throws from reaching the worker and the others. */
record SafeListeners(List<WorkerListener> listeners) implements WorkerListener {

  private static final Logger log = LoggerFactory.getLogger(SafeListeners.class);

  @Override
  public void claimed(int jobs, Duration took) {
    tell(listener -> listener.claimed(jobs, took));
  }

  @Override
  public void failed(Lease lease, Throwable thrown) {
    tell(listener -> listener.failed(lease, thrown));
  }

  @Override
  public void ended(Lease lease, Outcome outcome, Duration ran) {
    tell(listener -> listener.ended(lease, outcome, ran));
  }

  @Override
  public void scheduledRunEnded(SlotKey slot, Outcome outcome, Duration ran, long rows) {
    tell(listener -> listener.scheduledRunEnded(slot, outcome, ran, rows));
  }

  @Override
  public void runsRecovered(int runs) {
    tell(listener -> listener.runsRecovered(runs));
  }

  @Override
  public void finished(Lease lease, FinishReply reply) {
    tell(listener -> listener.finished(lease, reply));
  }

  @Override
  public void leaseLost(Lease lease) {
    tell(listener -> listener.leaseLost(lease));
  }

  @Override
  public void stubborn(Lease lease) {
    tell(listener -> listener.stubborn(lease));
  }

  private void tell(Consumer<WorkerListener> what) {
    for (WorkerListener listener : listeners) {
      try {
        what.accept(listener);
      } catch (Throwable thrown) { // an Error, too: an outcome would be lost with it
        SafeLog.warn(log, "A worker's listener failed", thrown);
      }
    }
  }
}
