package dev.holdfast.worker;

import dev.holdfast.codec.Codec;
import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Item;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Outcome;
import dev.holdfast.job.Payload;
import dev.holdfast.job.Progress;
import dev.holdfast.job.SlotKey;
import dev.holdfast.job.TraceContext;
import dev.holdfast.lease.FinishReply;
import dev.holdfast.lease.Lease;
import dev.holdfast.lease.LeaseSource;
import dev.holdfast.lease.Report;
import dev.holdfast.lease.ReportReply;
import dev.holdfast.lease.TransactionWork;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * What a handler knows about its attempt, and what it can say while it runs. Everything it says is
 * guarded by the fence: after a lost lease nothing more is stored. Thread-safe.
 */
public final class JobContext {

  private final Running running;
  private final LeaseSource leases;
  private final Codec codec;
  private final Unsent unsent;
  private final ReentrantLock sending = new ReentrantLock();
  private volatile @Nullable JobState recorded;
  private volatile boolean toldToStop;
  private volatile long rows;

  JobContext(Running running, LeaseSource leases, Codec codec) {
    this.running = running;
    this.leases = leases;
    this.codec = codec;
    this.unsent = new Unsent("attempt-" + running.lease().key().fence());
  }

  public UUID jobId() {
    return lease().key().jobId();
  }

  public String tenant() {
    return lease().key().tenant();
  }

  public String kind() {
    return lease().kind();
  }

  /** The trace that the job belongs to, as whoever enqueued it said. */
  public Optional<TraceContext> trace() {
    return lease().policy().trace();
  }

  public String queue() {
    return lease().queue();
  }

  /** Counts from 1. */
  public int attempt() {
    return lease().attempt().number();
  }

  /** Whether a failure of this attempt would not be tried again. */
  public boolean isLastAttempt() {
    return lease().attempt().isLastOf(lease().policy());
  }

  /** Which slot of which schedule the job runs for, if it is the job of one. */
  public Optional<SlotKey> slot() {
    return lease().slot();
  }

  /**
   * Larger for every later grant of this job. A protected resource that remembers the largest fence
   * it has seen can refuse a worker that lost its lease without knowing it.
   */
  public long fence() {
    return lease().key().fence();
  }

  /** How far the attempts before this one came. */
  public Progress lastProgress() {
    return lease().progress();
  }

  /** Where the attempts before this one said they were. */
  public Optional<String> lastCursor() {
    return lease().progress().cursor();
  }

  /**
   * Somebody wants this job to end: a stop was requested, the worker closes and will not wait much
   * longer, or the lease is lost. A handler that returns normally after it was told so has not
   * succeeded; one that has all the same says so by its outcome.
   */
  public boolean shouldStop() {
    boolean stop = running.shouldStop();
    if (stop) {
      toldToStop = true; // never back to false, whichever thread of the handler looks
    }
    return stop;
  }

  boolean wasTold() {
    return toldToStop;
  }

  /**
   * How long the job surely stays ours if no heartbeat gets through any more, by this process's own
   * clock; negative when it may be somebody else's by now. For those who keep work outside of this
   * process, and have to see to its end whatever becomes of us.
   */
  public Duration leaseLeft() {
    return running.leaseLeft(System.nanoTime());
  }

  /**
   * How long before the lease ends its handler is interrupted when no heartbeat got through: in
   * this time it has to stop.
   */
  public Duration stopMargin() {
    return running.margin();
  }

  /** How a handler that just returned has ended: cut short, if it was told to stop. */
  Outcome returned() {
    return toldToStop
        ? running.interruptedOutcome().orElseGet(Outcome::succeeded)
        : Outcome.succeeded();
  }

  /** Stored within a second or so; the last one wins. */
  public void progress(Progress progress) {
    progress.progressCount().ifPresent(count -> rows = count);
    unsent.add(progress);
  }

  /** Adds a line to the job's log, stored within a second or so. */
  public void log(String line) {
    unsent.add(Objects.requireNonNull(line, "line"));
  }

  /** Adds to what the job has used; over the limit of its policy it is told to stop. */
  public void usage(long inputTokens, long outputTokens) {
    if (inputTokens < 0 || outputTokens < 0) {
      throw HoldfastException.invalid("usage", inputTokens + ", " + outputTokens, "0 or more");
    }
    unsent.addUsage(inputTokens, outputTokens);
  }

  /**
   * Stores what the job found or made, now; each key once. Safe to repeat. When they were the last
   * of the results that the job is for, it has succeeded, and nothing more is stored.
   *
   * @throws HoldfastException with {@link ErrorCode#LEASE_LOST} when the job is no longer ours
   */
  public ReportReply.Stored items(List<Item> items) {
    Report report = Report.ofItems(items); // now: the list may be another one's before it is sent
    if (flush()
        && running.unlessLost(() -> leases.report(lease(), report)).orElseGet(ReportReply.Lost::new)
            instanceof ReportReply.Stored stored) {
      stored.ended().ifPresent(this::endedByReport);
      return stored;
    }
    throw leaseLost();
  }

  /**
   * Stores the cursor now, with everything said before. When this returns, an attempt after this
   * one starts from there.
   *
   * @throws HoldfastException with {@link ErrorCode#LEASE_LOST} when the job is no longer ours
   */
  public void checkpoint(String cursor) {
    progress(Progress.NONE.withCursor(cursor));
    if (!flush()) {
      throw leaseLost();
    }
  }

  /**
   * Runs the handler's own writes and the completion of its job in one transaction: both happen or
   * neither does. Call it last; its result is the job's result.
   *
   * @throws HoldfastException with {@link ErrorCode#LEASE_LOST} when the job is no longer ours,
   *     with {@link ErrorCode#STATE_CONFLICT} when it is not to succeed any more, as one that went
   *     over a limit; the writes are rolled back
   */
  public void inTransaction(TransactionWork work) throws Exception {
    if (!flush()) {
      throw leaseLost();
    }
    recorded =
        switch (leases.finishInTransaction(lease(), work)) {
          case FinishReply.Recorded(JobState state) -> state;
          case FinishReply.NotNow(String why) ->
              throw new HoldfastException(ErrorCode.STATE_CONFLICT, why);
          case FinishReply.Lost() -> throw leaseLost();
        };
  }

  /** A result for {@code Outcome.succeeded}. */
  public Payload payload(Object value) {
    return new Payload(codec.encode(value));
  }

  /** What the job is recorded as already, by {@link #inTransaction} or by its last report. */
  Optional<JobState> recorded() {
    return Optional.ofNullable(recorded);
  }

  /** What it said it had processed. */
  long rows() {
    return rows;
  }

  private void endedByReport(JobState state) {
    recorded = state;
    boolean unused = running.interrupt(Running.Interruption.ENOUGH);
  }

  /**
   * Stores what was said and not yet stored, now; false when the lease is lost. For those who have
   * more to log than the second between two reports has room for.
   */
  public boolean flush() {
    return unsent.isEmpty() ? !running.isLost() : running.unlessLost(this::store).orElse(false);
  }

  /** The same for those who are no handlers. */
  boolean store() {
    if (running.isLost()) {
      return false; // nor wait for one that is under way and whose answer may not come
    }
    sending.lock(); // or an older report could overtake a checkpoint
    try {
      return sendUnsent();
    } finally {
      sending.unlock();
    }
  }

  /**
   * Stores what was said, unless another thread is storing it: what that takes nobody waits for.
   */
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
      if (running.isOver()) {
        return false;
      }
      switch (leases.report(lease(), report)) {
        case ReportReply.Lost() -> {
          boolean unused = running.interrupt(Running.Interruption.LOST);
          return false;
        }
        case ReportReply.Stored stored -> stored.ended().ifPresent(this::endedByReport);
        case ReportReply.Repeated() -> {}
      }
      unsent.sent();
    }
    unsent.sent();
    return !running.isLost();
  }

  /** The last of what it said. */
  Optional<String> logExcerpt() {
    return unsent.excerpt();
  }

  private Lease lease() {
    return running.lease();
  }

  private HoldfastException leaseLost() {
    return new HoldfastException(
        ErrorCode.LEASE_LOST, "job " + jobId() + " is no longer held under fence " + fence());
  }
}
