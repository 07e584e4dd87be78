package dev.holdfast.worker;

import dev.holdfast.codec.Codec;
import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Item;
import dev.holdfast.job.Outcome;
import dev.holdfast.job.Payload;
import dev.holdfast.job.Progress;
import dev.holdfast.lease.FinishReply;
import dev.holdfast.lease.Lease;
import dev.holdfast.lease.LeaseSource;
import dev.holdfast.lease.Report;
import dev.holdfast.lease.ReportReply;
import dev.holdfast.lease.TransactionWork;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.locks.ReentrantLock;

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
  private volatile boolean finished;
  private volatile boolean toldToStop;

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

  public String queue() {
    return lease().queue();
  }

  /** Counts from 1. */
  public int attempt() {
    return lease().attempt().number();
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
   * Somebody wants this job to end: a stop was requested, the worker closes, or the lease is lost.
   * A handler that returns normally after it was told so has not succeeded; one that has all the
   * same says so by its outcome.
   */
  public boolean shouldStop() {
    boolean stop = running.interruption().isPresent();
    toldToStop |= stop;
    return stop;
  }

  /** How a handler that just returned has ended: cut short, if it was told to stop. */
  Outcome returned() {
    return toldToStop
        ? running.interruptedOutcome().orElseGet(Outcome::succeeded)
        : Outcome.succeeded();
  }

  /** Stored within a second or so; the last one wins. */
  public void progress(Progress progress) {
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
   * Stores what the job found or made, now; each key once. Safe to repeat.
   *
   * @throws HoldfastException with {@link ErrorCode#LEASE_LOST} when the job is no longer ours
   */
  public ReportReply.Stored items(List<Item> items) {
    if (flush()
        && leases.report(lease().key(), Report.ofItems(items))
            instanceof ReportReply.Stored stored) {
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
   * @throws HoldfastException with {@link ErrorCode#LEASE_LOST} when the job is no longer ours; the
   *     writes are rolled back
   */
  public void inTransaction(TransactionWork work) throws Exception {
    if (!flush()) {
      throw leaseLost();
    }
    FinishReply reply = leases.finishInTransaction(lease(), work);
    if (reply instanceof FinishReply.Lost) {
      throw leaseLost();
    }
    finished = true;
  }

  /** A result for {@code Outcome.succeeded}. */
  public Payload payload(Object value) {
    return new Payload(codec.encode(value));
  }

  /** The job was already completed by {@link #inTransaction}. */
  boolean isFinished() {
    return finished;
  }

  /** Sends what was said and not yet stored; false when the lease is lost. */
  boolean flush() {
    sending.lock(); // or an older report could overtake a checkpoint
    try {
      return sendUnsent();
    } finally {
      sending.unlock();
    }
  }

  private boolean sendUnsent() {
    for (Report report = unsent.next(); !report.isEmpty(); report = unsent.next()) {
      ReportReply reply = leases.report(lease().key(), report);
      if (reply instanceof ReportReply.Lost) {
        boolean unused = running.interrupt(Running.Interruption.LOST);
        return false;
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
