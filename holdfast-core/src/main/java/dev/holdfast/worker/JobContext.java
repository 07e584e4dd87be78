package dev.holdfast.worker;

import dev.holdfast.codec.Codec;
import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Limits;
import dev.holdfast.job.Outcome;
import dev.holdfast.job.Payload;
import dev.holdfast.job.Progress;
import dev.holdfast.lease.FinishReply;
import dev.holdfast.lease.Lease;
import dev.holdfast.lease.LeaseSource;
import dev.holdfast.lease.Report;
import dev.holdfast.lease.TransactionWork;
import java.util.ArrayList;
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
  private final ReentrantLock lock = new ReentrantLock();
  private final ReentrantLock sending = new ReentrantLock();
  private Progress unsent = Progress.NONE;
  private final List<String> unsentLines = new ArrayList<>();
  private long droppedLines;
  private long inputTokens;
  private long outputTokens;
  private volatile boolean finished;
  private volatile boolean toldToStop;

  JobContext(Running running, LeaseSource leases, Codec codec) {
    this.running = running;
    this.leases = leases;
    this.codec = codec;
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
    lock.lock();
    try {
      unsent = unsent.with(progress);
    } finally {
      lock.unlock();
    }
  }

  /** Adds a line to the job's log, stored within a second or so. */
  public void log(String line) {
    Objects.requireNonNull(line, "line");
    lock.lock();
    try {
      if (unsentLines.size() < Limits.LOG_LINES_PER_REPORT) {
        unsentLines.add(line);
      } else {
        droppedLines++;
      }
    } finally {
      lock.unlock();
    }
  }

  /** Adds to what the job has used. */
  public void usage(long inputTokens, long outputTokens) {
    if (inputTokens < 0 || outputTokens < 0) {
      throw HoldfastException.invalid("usage", inputTokens + ", " + outputTokens, "0 or more");
    }
    lock.lock();
    try {
      this.inputTokens += inputTokens;
      this.outputTokens += outputTokens;
    } finally {
      lock.unlock();
    }
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
    Report report = take();
    if (report.isEmpty()) {
      return !running.isLost();
    }
    boolean stored;
    try {
      stored = leases.report(lease().key(), report);
    } catch (RuntimeException e) {
      putBack(report);
      throw e;
    }
    if (!stored) {
      boolean unused = running.interrupt(Running.Interruption.LOST);
    }
    return stored;
  }

  private Report take() {
    lock.lock();
    try {
      if (droppedLines > 0) {
        unsentLines.add("… " + droppedLines + " lines dropped: too many at once");
      }
      Report report = new Report(unsent, unsentLines, inputTokens, outputTokens);
      unsent = Progress.NONE;
      unsentLines.clear();
      droppedLines = 0;
      inputTokens = 0;
      outputTokens = 0;
      return report;
    } finally {
      lock.unlock();
    }
  }

  private void putBack(Report report) {
    lock.lock();
    try {
      unsent = report.progress().with(unsent);
      unsentLines.addAll(0, report.logLines());
      inputTokens += report.inputTokens();
      outputTokens += report.outputTokens();
    } finally {
      lock.unlock();
    }
  }

  private Lease lease() {
    return running.lease();
  }

  private HoldfastException leaseLost() {
    return new HoldfastException(
        ErrorCode.LEASE_LOST, "job " + jobId() + " is no longer held under fence " + fence());
  }
}
