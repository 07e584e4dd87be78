package dev.holdfast.worker;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Item;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Progress;
import dev.holdfast.lease.FinishReply;
import dev.holdfast.lease.Lease;
import dev.holdfast.lease.LeaseSource;
import dev.holdfast.lease.Report;
import dev.holdfast.lease.ReportReply;
import dev.holdfast.lease.TransactionWork;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What the handler of one attempt reports, until it is stored. Whatever the answer to a report says
 * of the attempt, that the lease is lost or that the job has ended, the attempt learns here.
 * Thread-safe.
 */
final class AttemptReports {

  private final Running running;
  private final LeaseSource leases;
  private final Unsent unsent;
  private final ReentrantLock sending = new ReentrantLock();
  private volatile long rows;

  AttemptReports(Running running, LeaseSource leases) {
    this.running = running;
    this.leases = leases;
    this.unsent = new Unsent("attempt-" + running.lease().key().fence());
  }

  Running running() {
    return running;
  }

  void add(Progress progress) {
    progress.progressCount().ifPresent(count -> rows = count);
    unsent.add(progress);
  }

  void add(String line) {
    unsent.add(line);
  }

  void addUsage(long inputTokens, long outputTokens) {
    unsent.addUsage(inputTokens, outputTokens);
  }

  /** How many rows the handler said it had processed. */
  long rows() {
    return rows;
  }

  /** The last lines of the attempt's log. */
  Optional<String> logExcerpt() {
    return unsent.excerpt();
  }

  /** Stores what was reported and is not yet stored; for the handler, which waits for it. */
  boolean flush() {
    return unsent.isEmpty() ? !running.isLost() : running.unlessLost(this::store).orElse(false);
  }

  /** The same, or the refusal that a lost lease is. */
  void flushOrRefuse() {
    if (!flush()) {
      throw leaseLost();
    }
  }

  /** Stores items, after what was reported before; for the handler, which waits for it. */
  ReportReply.Stored items(List<Item> items) {
    Report report = Report.ofItems(items); // copies the list now: the caller may change it
    flushOrRefuse();
    if (running.unlessLost(() -> send(report)).orElseGet(ReportReply.Lost::new)
        instanceof ReportReply.Stored stored) {
      return stored;
    }
    throw leaseLost();
  }

  /** Ends the job in the transaction of the handler's own writes, after what was reported. */
  void finishWith(TransactionWork work) throws Exception {
    flushOrRefuse();
    switch (leases.finishInTransaction(lease(), work)) {
      case FinishReply.Recorded(JobState state) -> running.recorded(state);
      case FinishReply.NotNow(String why) ->
          throw new HoldfastException(ErrorCode.STATE_CONFLICT, why);
      case FinishReply.Lost() -> {
        heardOfLoss();
        throw leaseLost();
      }
    }
  }

  /** Stores on the calling thread, which is not a handler that must hear of a lost lease. */
  boolean store() {
    if (running.isLost()) {
      return false; // without waiting for a report under way, whose answer may not come
    }
    sending.lock(); // or an older report could overtake a checkpoint
    try {
      return sendUnsent();
    } finally {
      sending.unlock();
    }
  }

  /** Stores what was reported, unless another thread is storing it: then this does not wait. */
  void storeUnlessUnderWay() {
    if (sending.tryLock()) {
      try {
        boolean unused = sendUnsent(); // a lost lease interrupts the handler
      } finally {
        sending.unlock();
      }
    }
  }

  private boolean sendUnsent() {
    for (Report report = unsent.next(); !report.isEmpty(); report = unsent.next()) {
      if (send(report) instanceof ReportReply.Lost) {
        return false;
      }
      unsent.sent();
    }
    unsent.sent();
    return !running.isLost();
  }

  private ReportReply send(Report report) {
    if (running.isOver()) {
      return new ReportReply.Lost();
    }
    ReportReply reply = leases.report(lease(), report);
    switch (reply) {
      case ReportReply.Lost() -> heardOfLoss();
      case ReportReply.Stored stored -> stored.ended().ifPresent(this::endedByReport);
      case ReportReply.Repeated() -> {}
    }
    return reply;
  }

  // A lease that is lost ends the work, whatever found it out. One that an earlier report or
  // transaction has ended is not lost.
  private void heardOfLoss() {
    if (running.recorded().isEmpty()) {
      boolean unused = running.interrupt(Running.Interruption.LOST);
    }
  }

  private void endedByReport(JobState state) {
    running.recorded(state);
    boolean unused = running.interrupt(Running.Interruption.ENOUGH);
  }

  private Lease lease() {
    return running.lease();
  }

  private HoldfastException leaseLost() {
    return new HoldfastException(
        ErrorCode.LEASE_LOST,
        "job %s is no longer held under fence %d"
            .formatted(lease().key().jobId(), lease().key().fence()));
  }
}
