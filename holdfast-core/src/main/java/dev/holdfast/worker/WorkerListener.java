package dev.holdfast.worker;

import dev.holdfast.job.Outcome;
import dev.holdfast.job.SlotKey;
import dev.holdfast.lease.FinishReply;
import dev.holdfast.lease.Lease;
import java.time.Duration;

/**
 * Hears what a worker does, for metrics. Called on the worker's own threads, so implementations are
 * quick and thread-safe.
 */
public interface WorkerListener {

  WorkerListener NONE = new WorkerListener() {};

  default void claimed(int jobs, Duration took) {}

  /** A handler threw this, or its arguments could not be read. Not called for interruptions. */
  default void failed(Lease lease, Throwable thrown) {}

  default void ended(Lease lease, Outcome outcome, Duration ran) {}

  /**
   * The job of a schedule's slot ended.
   *
   * @param rows how many rows it said it had processed
   */
  default void scheduledRunEnded(SlotKey slot, Outcome outcome, Duration ran, long rows) {}

  /**
   * Scheduled runs that dead workers left behind were ended as failed, because a worker started.
   */
  default void runsRecovered(int runs) {}

  default void finished(Lease lease, FinishReply reply) {}

  default void leaseLost(Lease lease) {}

  /**
   * A handler goes on long after it was interrupted; nothing but the end of the process stops it.
   */
  default void stubborn(Lease lease) {}
}
